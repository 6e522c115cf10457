package import FoundationEssentials
import Statistics

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
    return Trend(
      createdAt: createdAt, links: links, runs: used.map { source.runs[$0] }, runCount: source.runs.count,
      series: series, hiddenBranches: branches.hiddenCount, olderRuns: olderRuns)
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
        let drift = SeriesChanges(of: column, in: runs)
        return MetricSeries(
          metric: column.metric,
          unit: column.metric.unit(perIteration: growthIsPerIteration, reported: column.reportedUnit),
          points: runs.indices.map { column[$0] },
          shifts: drift?.shifts ?? [],
          creep: drift?.creep)
      },
      approvals: runs.approvals,
      environmentChanges: runs.environmentChanges
    ).downsampled()
  }
}

/// The runs of one series.
private struct SeriesRuns {
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

// MARK: - Changes

/// The changes of a metric's level in a series: shifts, and creep between them.
private struct SeriesChanges {
  private let runs: SeriesRuns
  private let column: ScenarioHistory.Column
  /// The runs that have the metric.
  private let known: [(index: Int, point: MetricSeries.Point)]
  /// The known runs that did not fail: the values of a failed run are those of an unfinished program.
  private let sound: [(index: Int, point: MetricSeries.Point)]
  private let tolerance: Tolerance
  private let found: [ChangePoint]

  /// nil for an ungated metric that is not a headline.
  init?(of column: ScenarioHistory.Column, in runs: SeriesRuns) {
    guard !column.metric.isRate, column.isJudged || MetricName.headlines.contains(column.metric) else { return nil }
    self.runs = runs
    self.column = column
    known = runs.indices.enumerated().compactMap { index, run in column[run].map { (index, $0) } }
    sound = known.filter { runs[$0.index].verdict != .failed }
    let tolerance = Tolerance.latest(known.lazy.map(\.point.judgement?.allowed), of: column.metric)
    found = ChangePoints.find(in: sound.map(\.point.median)) { tolerance.allowed(above: [$0], of: column.metric) }
    self.tolerance = tolerance
  }

  private func allowed(at level: Double) -> Double { tolerance.allowed(above: [level], of: column.metric) }

  var shifts: [LevelShift] {
    let unreverted = Set(ChangePoints.unreverted(found, least: allowed).map(\.index))
    let now = found.last?.after ?? 0
    return zip(found, found.dropFirst().map(\.index) + [sound.count]).map { change, end in
      LevelShift(
        index: sound[change.index].index,
        before: change.before,
        after: change.after,
        chance: change.pValue,
        explanation: explanation(of: change, until: end),
        persists: change.rise > 0 ? unreverted.contains(change.index) : now < change.before
      )
    }
  }

  /// A baseline of the new level that was approved in the same run or before the next shift, or a change of the
  /// environment in the same run.
  private func explanation(of change: ChangePoint, until end: Int) -> LevelShift.Explanation? {
    let first = sound[change.index].index
    let earlier = first > 0 ? runs[first - 1].approval : nil
    for (index, point) in sound[change.index..<end] {
      guard let approval = runs[index].approval, approval != earlier, let baseline = point.judgement?.baseline
      else { continue }
      guard abs(baseline - change.after) <= allowed(at: change.before) else { continue }
      return .approval(runs.source.approvals[approval])
    }
    let differences = runs.environmentDifferences(at: first)
    return differences.isEmpty ? nil : .environment(differences)
  }

  /// The same rule as in a check.
  var creep: Creep? {
    Creep(
      over: known.suffix(Creep.latestRuns).map { index, point in
        let (run, judgement) = (runs[index], point.judgement)
        return SeriesPoint(
          run: runs.source.runs[run.index],
          verdict: run.verdict,
          metric: MetricResult(
            rule: GateRule(metric: column.metric, tolerance: nil),
            unit: column.metric.unit(perIteration: false, reported: column.reportedUnit),
            verdict: judgement?.verdict ?? .skipped,
            baseline: judgement?.baseline.map { ValueSummary(median: $0, count: 1) },
            current: ValueSummary(median: point.median, count: 1),
            allowed: judgement?.allowed),
          approval: run.approval.map { runs.source.approvals[$0] })
      })
  }
}
