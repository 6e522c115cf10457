import Statistics

/// What happened to a metric's level in a series: shifts, creep between them, and single bad runs.
struct SeriesChanges {
  private let runs: SeriesRuns
  private let column: ScenarioHistory.Column
  /// The runs that have the metric.
  private let known: [(index: Int, point: MetricSeries.Point)]
  /// The known runs that did not fail: the values of a failed run are those of an unfinished program.
  private let sound: [(index: Int, point: MetricSeries.Point)]
  private let tolerance: Tolerance
  private let analysis: SeriesAnalysis

  /// nil for an ungated metric that is not a headline.
  init?(of column: ScenarioHistory.Column, in runs: SeriesRuns) {
    guard !column.metric.isRate, column.isJudged || MetricName.headlines.contains(column.metric) else { return nil }
    self.runs = runs
    self.column = column
    known = runs.indices.enumerated().compactMap { index, run in column[run].map { (index, $0) } }
    sound = known.filter { runs[$0.index].verdict != .failed }
    let tolerance = Tolerance.latest(known.lazy.map(\.point.judgement?.allowed), of: column.metric)
    analysis = SeriesAnalysis(of: sound.map(\.point.median)) { tolerance.allowed(above: [$0], of: column.metric) }
    self.tolerance = tolerance
  }

  private func allowed(at level: Double) -> Double { tolerance.allowed(above: [level], of: column.metric) }

  /// The indices of single bad runs in the series.
  var outliers: [Int] { analysis.outliers.map { sound[$0].index } }

  /// See ``MetricSeries/levels``.
  var levels: [Double] { analysis.levels }

  var shifts: [LevelShift] {
    let found = analysis.steps
    let unreverted = Set(analysis.unreverted(least: allowed).map(\.index))
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
            rule: GateRule(metric: column.metric, tolerance: nil, severity: judgement == nil ? .off : .fail),
            unit: column.metric.unit(perIteration: false, reported: column.reportedUnit),
            verdict: judgement?.verdict ?? .skipped,
            baseline: judgement?.baseline.map { ValueSummary(median: $0, count: 1) },
            current: ValueSummary(median: point.median, count: 1),
            allowed: judgement?.allowed),
          approval: run.approval.map { runs.source.approvals[$0] })
      })
  }
}
