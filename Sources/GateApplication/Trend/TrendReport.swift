import FoundationEssentials
import GateCore

/// Writes the history as a page.
struct TrendReport {
  /// The path of the page; `-` is standard output, nil is the project's artifacts folder.
  var output: String?
  /// The number of latest runs of each branch.
  var limit = Trend.latestRuns
  var options = SharedOptions()

  func run(in invocation: Invocation) throws -> ExitCode {
    // An explicit history needs no project, which would only add links.
    let project =
      options.history != nil && options.config == nil
      ? try? options.loadProject(in: invocation, webhooksNeeded: false)
      : try options.loadProject(in: invocation, webhooksNeeded: false)
    let history = try options.historyLocation(in: invocation).openExisting(toChange: false, in: invocation)
    let trend = try history.trend(
      latest: limit, createdAt: invocation.now(), links: project?.links ?? BuildLinks())
    let page = TrendPage.text(trend)
    if output == "-" {
      invocation.console.print(page)
      return .pass
    }
    let place =
      output.map(invocation.absolute) ?? project.map { ArtifactsFolder(path: $0.artifacts).trend }
      ?? invocation.absolute("trend.html")
    if output == nil, let project { try ArtifactsFolder(path: project.artifacts).refuseOtherPlace(in: project.root) }
    try SafeFile.write(Array(page.utf8), to: place)
    let scenarios = Console.count(Set(trend.series.map(\.name)).count, "scenario")
    invocation.console.say("\(Console.count(trend.runCount, "run")) of \(scenarios): \(invocation.shown(place))")
    return .pass
  }
}
