/// The stored history of one scenario in columns, from which its series are built.
package struct ScenarioHistory: Sendable {
  package var name: ScenarioName
  /// In order of time.
  package var runs: [Run]
  package var columns: [Column] = []

  package init(name: ScenarioName, runs: [Run]) {
    (self.name, self.runs) = (name, runs)
  }

  /// The same with runs in order of time, and with a value or none for each run in all columns.
  package func inOrder() -> ScenarioHistory {
    var history = self
    for column in columns.indices { history.columns[column].extend(to: runs.count) }
    let order = runs.indices.sorted { (runs[$0].index, $0) < (runs[$1].index, $1) }
    guard !zip(order, 0...).allSatisfy(==) else { return history }
    history.runs = order.map { runs[$0] }
    history.columns = history.columns.map { $0.reordered(order) }
    return history
  }

  /// One run of the scenario.
  package struct Run: Sendable {
    /// Its index in ``TrendSource/runs``.
    package var index: Int
    /// The index of its environment in ``TrendSource/environments``.
    package var environment: Int
    package var verdict: Verdict
    package var growthIsPerIteration = false
    package var tags: [String] = []
    /// The index of its baseline's approval in ``TrendSource/approvals``.
    package var approval: Int?
    package var failedRepetitions: [FailedRepetition] = []
    /// What explained its rise.
    package var explanation: RiseExplanation?
    package var composition: Composition?

    package init(index: Int, environment: Int, verdict: Verdict) {
      (self.index, self.environment, self.verdict) = (index, environment, verdict)
    }
  }

  /// One metric of all runs.
  ///
  /// A run takes 16 bytes, and 24 more if the metric is gated: histories have millions of them.
  package struct Column: Sendable {
    /// The range is stored as distances from the median, which are exact up to 16 MiB and to a ten-millionth beyond.
    private struct Value {
      var median = Double.nan
      var below: Float = 0
      var above: Float = 0
    }

    private struct Judged {
      var baseline = Double.nan
      var limit = Double.nan
      var allowed = Float.nan
      var verdict: Verdict?
    }

    package let metric: MetricName
    /// The unit of a reported value; nil for other metrics.
    package let reportedUnit: String?
    private var values: [Value]
    /// Empty if no run was judged.
    private var judged: [Judged] = []

    /// A column without values for this many runs.
    package init(metric: MetricName, reportedUnit: String? = nil, count: Int) {
      (self.metric, self.reportedUnit) = (metric, reportedUnit)
      values = Array(repeating: Value(), count: count)
    }

    /// Whether a gate judged the metric in any run.
    package var isJudged: Bool { !judged.isEmpty }

    /// nil if that run does not have the metric.
    package subscript(run: Int) -> MetricSeries.Point? {
      get {
        let value = values[run]
        guard !value.median.isNaN else { return nil }
        return MetricSeries.Point(
          median: value.median, low: value.median - Double(value.below), high: value.median + Double(value.above),
          judgement: judged.isEmpty ? nil : judgement(of: run))
      }
      set {
        values[run] = Value()
        guard let point = newValue else { return }
        values[run] = Value(
          median: point.median, below: Float(point.median - point.low), above: Float(point.high - point.median))
        guard let judgement = point.judgement else { return }
        if judged.isEmpty { judged = Array(repeating: Judged(), count: values.count) }
        judged[run] = Judged(
          baseline: judgement.baseline ?? .nan, limit: judgement.limit ?? .nan,
          allowed: Float(judgement.allowed ?? .nan), verdict: judgement.verdict)
      }
    }

    /// Sets the values of a run, which may be one more than there are.
    package mutating func set(_ point: MetricSeries.Point, at run: Int) {
      extend(to: run + 1)
      self[run] = point
    }

    fileprivate mutating func extend(to count: Int) {
      guard count > values.count else { return }
      let missing = count - values.count
      values.append(contentsOf: repeatElement(Value(), count: missing))
      if !judged.isEmpty { judged.append(contentsOf: repeatElement(Judged(), count: missing)) }
    }

    /// The values of the runs in this order.
    fileprivate func reordered(_ order: [Int]) -> Column {
      var column = self
      column.values = order.map { values[$0] }
      if !judged.isEmpty { column.judged = order.map { judged[$0] } }
      return column
    }

    private func judgement(of run: Int) -> MetricSeries.Judgement? {
      func known(_ value: Double) -> Double? { value.isNaN ? nil : value }
      let judged = judged[run]
      return judged.verdict.map {
        MetricSeries.Judgement(
          verdict: $0, baseline: known(judged.baseline), allowed: known(Double(judged.allowed)),
          limit: known(judged.limit))
      }
    }
  }
}

/// The values that the histories of all scenarios refer to by index.
package struct TrendSource: Sendable {
  /// In order of time.
  package var runs: [RunInfo]
  package var environments: [EnvironmentInfo]
  package var approvals: [Approval]

  package init(runs: [RunInfo], environments: [EnvironmentInfo] = [], approvals: [Approval] = []) {
    (self.runs, self.environments, self.approvals) = (runs, environments, approvals)
  }
}

/// The branches that a trend shows: the main branch, and those with the newest runs.
struct ShownBranches: Sendable, Equatable {
  /// The main branch first, then by newest run.
  let names: [String?]
  let hiddenCount: Int

  /// The number of other branches that are shown, such as those under review.
  private static let others = 6

  /// Common names of main branches, the most likely first.
  private static let mainNames = ["main", "master", "trunk", "develop"]

  init(of runs: [RunInfo]) {
    var counts: [String?: (count: Int, last: Int)] = [:]
    for (index, run) in runs.enumerated() { counts[run.branch] = ((counts[run.branch]?.count ?? 0) + 1, index) }
    let named = Self.mainNames.first { counts[$0] != nil }
    // If branches have equally many runs, the one with the newest run counts, so that the result is deterministic.
    let busiest = counts.max { ($0.value.count, $0.value.last) < ($1.value.count, $1.value.last) }?.key
    let main: String? = named ?? busiest ?? nil
    let newest = counts.filter { $0.key != main }.sorted { $0.value.last > $1.value.last }.map(\.key)
    names = counts.isEmpty ? [] : [main] + newest.prefix(Self.others)
    hiddenCount = max(0, newest.count - Self.others)
  }
}
