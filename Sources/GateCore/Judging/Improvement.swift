import Statistics

extension ScenarioResult {
  /// Takes an improvement back that may hide a rise, and finds one that no metric shows.
  mutating func reviseImprovement(_ verdict: inout Verdict, over baseline: Baseline) {
    func mayHideRise(_ note: Note) -> Bool { self.mayHideRise(note, over: baseline) }
    if verdict == .improved, notes.contains(where: mayHideRise) { verdict = .pass }
    guard verdict == .pass, gate.isStandard, !notes.contains(where: \.isOnRise) else { return }
    let levels = WholeRunMetric.allCases.filter { $0.row.isStandard && $0.row.kind == .steadyLevel }
    let steadied = levels.map(\.name).filter { hasBecomeSteady($0, since: baseline) }
    guard let metric = steadied.first else { return }
    notes.removeAll {
      if case .baselineSeldomSteady(let metric, _, _) = $0 { steadied.contains(metric) } else { false }
    }
    notes.append(.becameSteady(metric: metric))
    if !notes.contains(where: mayHideRise) { verdict = .improved }
  }

  /// Whether a metric was left out that may have risen: half an improvement may hide a rise.
  ///
  /// A level that no repetition of the baseline has cannot have risen, and is at most the peak.
  private func mayHideRise(_ note: Note, over baseline: Baseline) -> Bool {
    if case .baselineSeldomSteady(_, 0, _) = note { return false }
    return note.unjudgedMetric.map { !isBelow($0, of: baseline) } ?? false
  }

  /// Whether no peak is above the level that the baseline had, so that the level cannot have risen.
  private func isBelow(_ metric: MetricName, of baseline: Baseline) -> Bool {
    guard metric.kind == .steadyLevel, !mayMissPeaks, let values = baseline.metrics[metric],
      let before = Spread.median(values)
    else { return false }
    let peak: MetricName = metric.isOfTree ? .treePeak : .peakRSS
    return !repetitions.isEmpty && repetitions.allSatisfy { $0.metrics[peak].map { $0 <= before } ?? false }
  }

  /// Whether memory becomes steady, and did not in the baseline: an unchanged program would show that in at most 1 of 100
  /// checks.
  private func hasBecomeSteady(_ metric: MetricName, since baseline: Baseline) -> Bool {
    let (before, all) = (baseline.metrics[metric]?.count ?? 0, baseline.repetitionCount)
    let now = repetitions.count { $0.metrics[metric] != nil && !$0.nearlySteady.contains(metric) }
    guard before * 2 < all, now == repetitions.count, !metric.isOfTree || hasTreeMemory else { return false }
    return FisherTest.pValue(ofRiseFrom: before, of: all, to: now, of: now) <= RepetitionPlan.falseAlarms
      && hasLostGrowth(since: baseline)
  }

  /// Whether memory grows less than in the baseline, beyond its noise: otherwise it may only have become steady on a machine
  /// that is less busy.
  private func hasLostGrowth(since baseline: Baseline) -> Bool {
    guard let before = baseline.metrics[.growth], baseline.unit(of: .growth) == unit(of: .growth) else { return false }
    let comparison = Comparison(
      from: before, to: repetitions.compactMap { $0.metrics[.growth] }, allowed: Tolerance.noise(of: before),
      alpha: RepetitionPlan.falseAlarms, isLast: true)
    return comparison.map { $0.outcome == .fall && $0.method != .thresholds } ?? false
  }
}

extension MetricJudgement {
  /// Why a fall of the metric is not an improvement for certain; nil if a value as high as before would have been seen.
  func doubtOnFall(in scenario: ScenarioResult) -> UncertainFall? {
    switch rule.metric.kind {
    case .peak, .height: scenario.mayMissPeaks ? .shortPeak : nil
    case .slope: doubtOnSlope
    case .steadyLevel, .remainder, .rate, .reported, .instances, .perItem, .count, .countedBytes: nil
    }
  }

  /// One step of 284 KiB in 9 iterations is a slope of 32 KiB, and is gone in the next run.
  private var doubtOnSlope: UncertainFall? {
    guard let iterations = Spread.median(growth.compactMap(\.iterations).map(Double.init)), let baseline,
      let (before, now) = Spread.median(baseline).flatMap({ before in Spread.median(current).map { (before, $0) } }),
      (before - now) * iterations < Growth.leastLeak
    else { return nil }
    return .fewSteps(iterations: Int(iterations))
  }
}

extension ScenarioResult {
  /// Readings are far apart beside a life of less than so many of the widest gaps.
  private static let fewestGaps = 20

  /// Whether a peak may be missed that is as high as any: without a tracer one of several processes may end at any time
  /// after its last reading.
  fileprivate var mayMissPeaks: Bool {
    summary.environment.fingerprint.isSampled
      && repetitions.contains { $0.processes > 1 || $0.widestGap * Self.fewestGaps > $0.duration }
  }
}

extension Note {
  fileprivate var isOnRise: Bool {
    switch self {
    case .risesWithinTolerance, .ungatedRises: true
    default: false
    }
  }
}

extension MetricResult {
  /// A note if the values pass at two levels, although their medians differ by more than the tolerance.
  var noteOnTwoLevels: Note? {
    guard verdict == .pass, case .levels(let levels, _) = reason, let change, let allowed,
      change.absolute.magnitude > allowed
    else { return nil }
    return .twoLevels(metric: metric, unit: unit, levels: levels)
  }
}
