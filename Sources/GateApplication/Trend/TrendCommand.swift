import ArgumentParser
import GateCore

struct TrendCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "trend",
    abstract: "Writes the history as one HTML page, or as JSON: events, and each scenario's memory over the commits.",
    usage: "highwater trend [<options>]",
    discussion: """
      The page is one file that makes no request, so that it can be opened from a CI system's artifacts. Each check \
      leaves it at ARTIFACTS/trend.html; this command rewrites it.

        highwater trend
        highwater trend --history runs.sqlite --output trend.html --limit 10000
        highwater trend --json - | jq '.events[] | select(.needsAttention)'
      """
  )

  @Option(
    help: ArgumentHelp(
      "Where to write the page; - is standard output (default: ARTIFACTS/trend.html).", valueName: "file"),
    completion: .file(extensions: ["html"]))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Write events, steps and levels as JSON; - is standard output. Without --output no page is written.",
      valueName: "file"),
    completion: .file(extensions: ["json"]))
  var json: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The number of latest runs of each branch to read.", valueName: "n"))
  var limit = Trend.latestRuns

  @OptionGroup var project: ProjectOptions
  @OptionGroup var console: ConsoleOptions

  func validate() throws {
    guard limit >= 1 else { throw ValidationError("--limit must be at least 1") }
    guard json != "-" || output != "-" else {
      throw ValidationError("--json and --output cannot both write to standard output")
    }
  }

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var trend = TrendReport()
    (trend.output, trend.limit) = (output, limit)
    trend.options = project.shared
    trend.options.json = json
    return try trend.run(in: invocation)
  }
}
