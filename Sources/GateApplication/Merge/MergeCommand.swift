import ArgumentParser
import GateCore

struct MergeCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Combines the results of a check split by --shard.",
    discussion: """
      Ends a check that was split over several jobs: merges their result files, in any order, and does what check does \
      at its end: the summary, reports, result.json, the history and webhooks. Without a project file it only reports.

        highwater merge shard-*/result.json --junit junit.xml
        highwater merge a.json b.json --json merged.json

      A scenario whose shard is missing is inconclusive (exit code 4, unless another scenario is worse). Results of \
      different builds, a shard that occurs twice, and other files that do not belong together are errors (2).
      """
  )

  @Argument(
    help: ArgumentHelp("The results of the shards.", valueName: "result.json"), completion: .file(extensions: ["json"]))
  var files: [String]

  @OptionGroup var project: ProjectOptions
  @OptionGroup var reports: ReportOptions

  @OptionGroup var delivery: DeliveryOptions
  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var merge = Merge(files: files)
    merge.options = project.shared
    reports.add(to: &merge.options)
    merge.notifies = !delivery.noNotify
    merge.requiresDelivery = delivery.requireDelivery
    return try merge.run(in: invocation)
  }
}
