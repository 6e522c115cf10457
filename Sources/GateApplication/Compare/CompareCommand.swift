import ArgumentParser
import GateCore

struct CompareCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compares two result or baseline files with the verdicts of check.",
    usage: "highwater compare [<options>] <base.json> <current.json>",
    discussion: """
      The gate of the current file counts; a baseline file is judged by the standard gate.

        highwater compare main/result.json .highwater/result.json
        highwater compare baselines/load/linux-x86_64-2cpu.json result.json
      """
  )

  @Argument(
    help: ArgumentHelp("What to compare with.", valueName: "base.json"), completion: .file(extensions: ["json"]))
  var base: String

  @Argument(help: ArgumentHelp("What to judge.", valueName: "current.json"), completion: .file(extensions: ["json"]))
  var current: String

  @OptionGroup var reports: ReportOptions

  @Flag(help: "Count a scenario that the base lacks as skipped instead of failing with 5.")
  var allowMissingBaseline = false

  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var compare = Compare(base: base, current: current)
    reports.add(to: &compare.options)
    compare.allowsMissingBaseline = allowMissingBaseline
    return try compare.run(in: invocation)
  }
}
