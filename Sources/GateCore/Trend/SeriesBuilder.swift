package import FoundationEssentials

/// Builds the series of a trend from the stored histories of scenarios.
package struct SeriesBuilder: Sendable {
  private let source: TrendSource
  private let branches: ShownBranches
  /// The indices of the runs in the series, ascending: the latest of each shown branch.
  package let shownRuns: [Int]
  private let olderRuns: Int

  /// The number of metrics that are shown per scenario; a target can name any number of phases.
  private static let mostMetrics = 40

  /// Of each branch, this many latest runs belong to series.
  package init(_ source: TrendSource, latest: Int) {
    self.source = source
    branches = ShownBranches(of: source.runs)
    let byBranch = Dictionary(grouping: source.runs.indices) { source.runs[$0].branch }
    let ofShown = branches.names.map { byBranch[$0] ?? [] }
    shownRuns = ofShown.flatMap { $0.suffix(latest) }.sorted()
    olderRuns = ofShown.map(\.count).reduce(0, +) - shownRuns.count
  }

  /// A scenario's series: one for each environment and shown branch in which it ran.
  package func series(of history: ScenarioHistory) -> [ScenarioSeries] {
    var groups: [String: [String?: [Int]]] = [:]
    for (index, run) in history.runs.enumerated() {
      groups[source.environments[run.environment].name, default: [:]][source.runs[run.index].branch, default: []]
        .append(index)
    }
    return groups.sorted { $0.key < $1.key }.flatMap { environment, byBranch in
      branches.names.compactMap { branch in
        byBranch[branch].map { indices in
          series(of: SeriesRuns(history: history, indices: indices, source: source), environment, branch)
        }
      }
    }
  }

  /// The trend of all series, whose runs are still indices into ``TrendSource/runs``.
  package func trend(of series: [ScenarioSeries], createdAt: Date, links: BuildLinks) -> Trend {
    let used = Set(series.lazy.flatMap { $0.runs.lazy.map(\.index) }).sorted()
    let newIndices = Dictionary(uniqueKeysWithValues: zip(used, 0...))
    var series = series
    for index in series.indices {
      for run in series[index].runs.indices {
        guard let newIndex = newIndices[series[index].runs[run].index] else { continue }
        series[index].runs[run].index = newIndex
      }
    }
    var trend = Trend(
      createdAt: createdAt, links: links, runs: used.map { source.runs[$0] }, runCount: source.runs.count,
      series: series, hiddenBranches: branches.hiddenCount, olderRuns: olderRuns)
    trend.findEvents()
    return trend
  }

  private func series(of runs: SeriesRuns, _ environment: String, _ branch: String?) -> ScenarioSeries {
    let growthIsPerIteration = runs.last?.growthIsPerIteration ?? false
    let columns = runs.columns.sorted { MetricName.isListedBefore($0.metric, $1.metric) }.prefix(Self.mostMetrics)
    return ScenarioSeries(
      name: runs.history.name,
      tags: runs.last?.tags ?? [],
      environment: environment,
      branch: branch,
      growthIsPerIteration: growthIsPerIteration,
      runCount: runs.indices.count,
      runs: runs.runs,
      metrics: columns.map { column in
        let changes = SeriesChanges(of: column, in: runs)
        return MetricSeries(
          metric: column.metric,
          unit: column.metric.unit(perIteration: growthIsPerIteration, reported: column.reportedUnit),
          points: runs.indices.map { column[$0] },
          shifts: changes?.shifts ?? [],
          creep: changes?.creep,
          outliers: changes?.outliers ?? [],
          levels: changes?.levels ?? []
        ).withStepDates { runs[$0].verdict != .failed }
      },
      approvals: runs.approvals,
      environmentChanges: runs.environmentChanges
    ).downsampled()
  }
}

/// The runs of one series.
struct SeriesRuns {
  let history: ScenarioHistory
  /// Indices of the history's runs, in order of time.
  let indices: [Int]
  let source: TrendSource

  subscript(index: Int) -> ScenarioHistory.Run { history.runs[indices[index]] }

  var last: ScenarioHistory.Run? { indices.last.map { history.runs[$0] } }

  var runs: [ScenarioSeries.Run] {
    indices.map { history.runs[$0] }.map { run in
      ScenarioSeries.Run(
        index: run.index, verdict: run.verdict, failedRepetitions: run.failedRepetitions, explanation: run.explanation,
        composition: run.composition)
    }
  }

  /// The columns with a value in any run; for a metric reported in several units, the column with the latest value.
  var columns: [ScenarioHistory.Column] {
    let known = history.columns.compactMap { column in
      indices.last { column[$0] != nil }.map { (column: column, last: $0) }
    }
    return Dictionary(grouping: known, by: \.column.metric).values.compactMap { same in
      same.max { $0.last < $1.last }?.column
    }
  }

  var approvals: [ScenarioSeries.ApprovedBaseline] {
    var latest: Int?
    return indices.indices.compactMap { index in
      guard let approval = self[index].approval, approval != latest else { return nil }
      latest = approval
      return ScenarioSeries.ApprovedBaseline(index: index, approval: source.approvals[approval])
    }
  }

  var environmentChanges: [ScenarioSeries.EnvironmentChange] {
    indices.indices.compactMap { index in
      let differences = environmentDifferences(at: index)
      return differences.isEmpty ? nil : ScenarioSeries.EnvironmentChange(index: index, differences: differences)
    }
  }

  /// How a run's environment differs from the previous run's.
  func environmentDifferences(at index: Int) -> [Fingerprint.Difference] {
    guard index > 0 else { return [] }
    let (before, now) = (self[index - 1].environment, self[index].environment)
    guard before != now else { return [] }
    return source.environments[now].fingerprint.differences(fromBaseline: source.environments[before].fingerprint)
  }
}
