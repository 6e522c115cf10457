import Statistics

/// One metric of one scenario in one run.
package struct SeriesPoint: Sendable, Equatable {
  package var run: RunInfo
  /// The verdict of the scenario.
  package var verdict: Verdict
  package var metric: MetricResult
  package var approval: Approval?

  package init(run: RunInfo, verdict: Verdict, metric: MetricResult, approval: Approval? = nil) {
    (self.run, self.verdict, self.metric, self.approval) = (run, verdict, metric, approval)
  }
}

extension Creep {
  /// The number of latest runs that are searched: a creep of 0.05 % per run is 10 % over this many, and older runs say
  /// little about the present.
  package static let latestRuns = 200

  /// Searches a metric's runs on one branch and in one environment for creep, in order of time.
  ///
  /// Of the latest ``latestRuns``, only runs after the last approved rise count (``startAfterApprovedRise(_:_:)``),
  /// without failed runs, whose values are those of an unfinished program. Level shifts are not creep, nor is the
  /// distance of two levels that a program alternates between, nor the change of a rate, which has no level.
  package init?(over points: [SeriesPoint]) {
    guard let last = points.last?.metric, !last.metric.isRate else { return nil }
    let latest = points.suffix(Self.latestRuns)
    let tolerance = Tolerance.latest(latest.lazy.map(\.metric.allowed), of: last.metric)
    func allowed(_ level: Double) -> Double { tolerance.allowed(above: [level], of: last.metric) }
    let sound = latest.filter { $0.verdict != .failed && $0.metric.current != nil }
    let counted = Array(sound[Self.startAfterApprovedRise(sound, allowed)...])
    let medians = counted.compactMap(\.metric.current?.median)
    let analysis = SeriesAnalysis(of: medians, least: allowed)
    guard let creep = Drift(analysis.withoutSteps(medians), tolerance: allowed), creep.rise > analysis.gap
    else { return nil }
    let start = counted[creep.anchorIndex].run
    self.init(
      metric: last.metric,
      unit: last.unit,
      rise: creep.rise,
      anchor: Anchor(level: creep.anchor, at: start.startedAt, commit: start.commit),
      span: .runs(count: counted.count - 1 - creep.anchorIndex)
    )
  }

  /// The first run after the last approval that raised the baseline by more than its tolerance: that rise was seen and
  /// accepted, as in ``Baseline/continueAnchors(of:gate:)``.
  private static func startAfterApprovedRise(_ points: [SeriesPoint], _ allowed: (Double) -> Double) -> Int {
    let approved = points.enumerated().compactMap { index, point in
      point.metric.baseline.map { (index: index, level: $0.median, approval: point.approval) }
    }
    let rises = zip(approved, approved.dropFirst()).filter { before, after in
      before.approval != after.approval && after.level - before.level > allowed(before.level)
    }
    return rises.last?.1.index ?? 0
  }
}

extension Tolerance {
  /// The latest allowed change of a metric, or the default tolerance if no run was judged.
  static func latest(_ allowed: some BidirectionalCollection<Double?>, of metric: MetricName) -> Tolerance {
    let latest = allowed.last { $0 != nil } ?? nil
    return latest.map { .bounds(relative: nil, absolute: .number($0)) } ?? .standard(of: metric)
  }
}
