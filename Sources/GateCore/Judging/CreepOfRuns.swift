import Statistics

/// How far a metric has crept up from run to run, though each was within its tolerance.
package struct CreepOfRuns: Sendable, Equatable {
  package let metric: MetricName
  package let rise: Double
  /// The lowest level that lasted; its instant and commit are those of a run in the middle of it.
  package let anchor: Baseline.Anchor
  /// How many runs came after that one.
  package let runs: Int

  /// Looks for creep in one metric's runs on one branch and in one environment, in the order of time; the last is the
  /// one that is judged now.
  ///
  /// Runs before the last deliberate step do not count (``startAfterSteps(_:_:)``), nor do those that failed, whose
  /// figures are of an unfinished program. What came by a step is no creep. A rate has no level that could creep.
  package init?(_ points: [SeriesPoint], tolerance: Tolerance) {
    guard let metric = points.last?.record.metric, !metric.isRate else { return nil }
    func allowed(_ level: Double) -> Double { tolerance.allowed(beside: [level], of: metric) }
    let sound = points.filter { $0.verdict != .failed && $0.record.figures != nil }
    let kept = Array(sound[Self.startAfterSteps(sound, allowed)...])
    let medians = kept.compactMap(\.record.figures?.median)
    let rest = ChangePoints.withoutSteps(medians, ChangePoints.find(in: medians, least: allowed))
    guard let creep = Drift(rest, tolerance: allowed) else { return nil }
    let start = kept[creep.anchorIndex].run
    self.metric = metric
    rise = creep.rise
    anchor = Baseline.Anchor(level: creep.anchor, at: start.startedAt, commit: start.commit)
    runs = kept.count - 1 - creep.anchorIndex
  }

  /// The first run after the last approval that lifted the baseline by more than was tolerated: whoever approved that
  /// saw it and wanted it, as in ``Baseline/continueAnchors(of:gate:)``.
  private static func startAfterSteps(_ points: [SeriesPoint], _ allowed: (Double) -> Double) -> Int {
    let approved = points.enumerated().compactMap { index, point in
      point.record.judgement?.baseline.map { (index: index, level: $0, approval: point.approval) }
    }
    let steps = zip(approved, approved.dropFirst()).filter { before, after in
      before.approval != after.approval && after.level - before.level > allowed(before.level)
    }
    return steps.last?.1.index ?? 0
  }
}

extension CreepOfRuns {
  /// The creep as a sentence; `unit` is the metric's.
  package func sentence(unit: String) -> String {
    let course = "over \(runs) runs, none of which rose by more than the tolerance"
    return anchor.sentence(on: metric, rise: rise, unit: unit, course: course)
  }
}
