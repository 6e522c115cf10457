import Statistics

/// What one run says of one metric of one scenario.
package struct SeriesPoint: Sendable, Equatable {
  package var run: RunInfo
  /// The scenario's.
  package var verdict: Verdict
  package var metric: MetricResult
  package var approval: Approval?

  package init(run: RunInfo, verdict: Verdict, metric: MetricResult, approval: Approval? = nil) {
    self.run = run
    self.verdict = verdict
    self.metric = metric
    self.approval = approval
  }
}

extension Creep {
  /// Looks for creep in one metric's runs on one branch and in one environment, in the order of time; the last is the
  /// one that is judged now.
  ///
  /// Runs before the last deliberate step do not count (``startAfterSteps(_:_:)``), nor do those that failed, whose
  /// values are of an unfinished program. What came by a step is no creep. A rate has no level that could creep.
  package init?(over points: [SeriesPoint], tolerance: Tolerance) {
    guard let last = points.last?.metric, !last.metric.isRate else { return nil }
    func allowed(_ level: Double) -> Double { tolerance.allowed(above: [level], of: last.metric) }
    let sound = points.filter { $0.verdict != .failed && $0.metric.current != nil }
    let kept = Array(sound[Self.startAfterSteps(sound, allowed)...])
    let medians = kept.compactMap(\.metric.current?.median)
    let rest = ChangePoints.withoutSteps(medians, ChangePoints.find(in: medians, least: allowed))
    guard let creep = Statistics.Creep(rest, tolerance: allowed) else { return nil }
    let start = kept[creep.anchorIndex].run
    self.init(
      metric: last.metric,
      unit: last.unit,
      rise: creep.rise,
      anchor: Anchor(level: creep.anchor, at: start.startedAt, commit: start.commit),
      span: .runs(kept.count - 1 - creep.anchorIndex)
    )
  }

  /// The first run after the last approval that lifted the baseline by more than its tolerance: whoever approved that saw
  /// and accepted it, as in ``Baseline/continueAnchors(of:gate:)``.
  private static func startAfterSteps(_ points: [SeriesPoint], _ allowed: (Double) -> Double) -> Int {
    let approved = points.enumerated().compactMap { index, point in
      point.metric.baseline.map { (index: index, level: $0.median, approval: point.approval) }
    }
    let steps = zip(approved, approved.dropFirst()).filter { before, after in
      before.approval != after.approval && after.level - before.level > allowed(before.level)
    }
    return steps.last?.1.index ?? 0
  }
}
