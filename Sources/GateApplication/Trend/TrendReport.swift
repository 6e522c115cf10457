import FoundationEssentials
import GateCore

/// Writes the history as a page, as JSON or both.
struct TrendReport {
  /// The path of the page; `-` is standard output, nil is the project's artifacts folder, unless JSON is written.
  var output: String?
  /// The number of latest runs of each branch.
  var limit = Trend.latestRuns
  var options = SharedOptions()

  func run(in invocation: Invocation) throws -> ExitCode {
    let project = try options.projectOfHistory(in: invocation)
    let trend = try options.trend(of: project, latest: limit, in: invocation)
    for file in options.reportFiles { try file.write(TrendFile.encode(trend), in: invocation) }
    if output == "-" {
      invocation.console.print(TrendPage.text(trend))
    } else if output != nil || options.json == nil {
      try writePage(trend, project, invocation)
    }
    return .pass
  }

  private func writePage(_ trend: Trend, _ project: Project?, _ invocation: Invocation) throws {
    let place =
      output.map(invocation.absolute) ?? project.map { ArtifactsFolder(path: $0.artifacts).trend }
      ?? invocation.absolute("trend.html")
    if output == nil, let project { try ArtifactsFolder(path: project.artifacts).refuseOtherPlace(in: project.root) }
    try SafeFile.write(Array(TrendPage.text(trend).utf8), to: place)
    let scenarios = Console.count(Set(trend.series.map(\.name)).count, "scenario")
    let all = Console.count(trend.runCount, "run")
    let runs = trend.olderRuns == 0 ? all : "the latest \(trend.runCount - trend.olderRuns) of \(all)"
    invocation.console.say("\(runs) of \(scenarios): \(invocation.shown(place))")
  }
}

extension SharedOptions {
  /// The project of the history; an explicit history needs none, which would only add links and acknowledgements.
  func projectOfHistory(in invocation: Invocation) throws -> Project? {
    history != nil && config == nil
      ? try? loadProject(in: invocation, webhooksNeeded: false)
      : try loadProject(in: invocation, webhooksNeeded: false)
  }

  /// The trend of the history, which must exist, with the project's links and acknowledgements.
  func trend(of project: Project?, latest: Int = Trend.latestRuns, in invocation: Invocation) throws -> Trend {
    let history = try historyLocation(in: invocation).openExisting(toChange: false, in: invocation)
    var trend = try history.trend(
      latest: latest, createdAt: invocation.now(), links: project?.links ?? BuildLinks())
    if let project { trend.apply(try AcknowledgementFile.load(from: project.baselines)) }
    return trend
  }
}
