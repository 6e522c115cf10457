import ArgumentParser
import GateCore

struct ExplainCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows which functions hold a scenario's memory, and which hold more than in another build.",
    usage: "highwater explain [<options>] [<name> ...]",
    discussion: """
      Runs scenarios a few more times under a profiler, without rebuilding the program, and shows the memory of the process \
      that rose most by call stack. The values of these runs never decide a verdict.

        highwater explain redis-load                       # and the approved build
        highwater explain --against build-main/server      # and another build
        highwater explain --against-ref main --build make
        highwater explain --metric growth redis-load       # what a leak adds
        highwater explain --json main.json redis-load      # for a later comparison
        highwater explain --base main.json redis-load

      A page with flame graphs is written to ARTIFACTS/explain.html.
      """
  )

  @Argument(help: ArgumentHelp("Scenarios to run.", valueName: "name"))
  var names: [String] = []

  @OptionGroup var project: ProjectOptions
  @OptionGroup var comparison: ComparisonOptions
  @OptionGroup var build: BuildOption

  @Option(
    help: ArgumentHelp(
      "Compare with an earlier profile, which --json wrote, instead of the approved build's.", valueName: "file"),
    completion: .file())
  var base: String?

  @Option(
    help: ArgumentHelp(
      "The rise to explain: `peak_rss`; `steady_rss`, what is held at the end; `growth`, what the run adds by itself.",
      valueName: "metric"))
  var metric = ExplainedRise.peak

  @Option(
    help: ArgumentHelp("Write the profile, with which later ones can be compared.", valueName: "file"),
    completion: .file())
  var json: String?

  @Option(
    help: ArgumentHelp("Write the call stacks as folded text, as flamegraph.pl reads it.", valueName: "file"),
    completion: .file())
  var folded: String?

  @Option(
    help: ArgumentHelp("Write a profile that `go tool pprof` reads.", valueName: "file"),
    completion: .file())
  var pprof: String?

  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    guard base == nil || comparison.source == nil else {
      throw ValidationError("--base and --against or --against-ref are mutually exclusive")
    }
  }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var explain = Explain()
    explain.options = project.shared
    explain.options.skipsBuild = build.noBuild
    explain.selection = names
    explain.against = comparison.source
    explain.base = base
    explain.rise = metric
    let files: [(ProfileOutput.Format, String?)] = [(.json, json), (.folded, folded), (.pprof, pprof)]
    explain.files = files.compactMap { format, path in path.map { ProfileOutput(format, path: $0) } }
    return try explain.run(in: invocation)
  }
}

extension ExplainedRise: ExpressibleByArgument {}
