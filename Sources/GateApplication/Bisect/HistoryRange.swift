import GateCore

/// The steps that the project's history shows between the commits of a range.
struct HistoryRange {
  private let history: History
  private let numbers: [String: Int]
  /// The only metric that is searched, if any.
  private let metric: MetricName?

  /// nil if there is no history that can be read.
  init?(of project: Project, commits: [String], metric: MetricName?, in invocation: Invocation) {
    guard let history = try? project.history?.openExisting(toChange: false, in: invocation) else { return nil }
    (self.history, self.metric) = (history, metric)
    numbers = Dictionary(commits.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The step of the first gated metric that has one, between two commits that checks have measured.
  ///
  /// A reported value is not searched: its unit is known only once it is measured.
  func step(of scenario: Scenario, in environment: EnvironmentInfo) -> ClosedRange<Int>? {
    let gated = scenario.gate.rules.filter { $0.severity != .off && !$0.metric.isValue }.map(\.metric)
    let steps = (metric.map { [$0] } ?? gated).lazy.compactMap { metric in
      KnownStep.range(in: medians(of: metric, scenario.name, environment), of: metric)
    }
    return steps.first
  }

  private func medians(
    of metric: MetricName,
    _ scenario: ScenarioName,
    _ environment: EnvironmentInfo
  ) -> [(index: Int, median: Double)] {
    let selection = History.Selection(scenario, environment: environment.name)
    let points = (try? history.series(of: metric, unit: metric.unit(perIteration: false), in: selection)) ?? []
    return points.compactMap { point in
      guard !point.run.isDirty, point.verdict != .failed, let index = point.run.commit.flatMap({ numbers[$0] }),
        let median = point.metric.current?.median
      else { return nil }
      return (index, median)
    }
  }
}
