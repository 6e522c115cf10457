/// The result of one scenario: made by the measurement, completed by the judgement, read by reports, files and pages.
///
/// A measured scenario has the verdict `skipped` until ``judged(against:allowsMissingBaseline:)`` has judged it.
@dynamicMemberLookup
package struct ScenarioResult: Sendable, Equatable {
  /// The part that the history stores.
  package var summary: ScenarioSummary
  /// The rules of the judgement, so that the result can be judged again.
  package var gate: Gate
  /// The counted repetitions, in order.
  package var repetitions: [RepetitionResult]
  /// The composition of memory nearest to the peak, of the same repetition as ``ScenarioSummary/composition``.
  package var compositionAtPeak: Composition?
  /// What the values were compared with; nil where there was nothing to compare with.
  package var reference: ReferenceInfo?
  /// Why the scenario failed; nil unless it did.
  package var failure: Failure?
  package var notes: [Note]
  /// How many repetitions the verdict could have asked for; nil where their number was fixed.
  package var plan: RepetitionPlan?

  package init(
    name: ScenarioName,
    verdict: Verdict = .skipped,
    environment: EnvironmentInfo,
    gate: Gate = .standard,
    repetitions: [RepetitionResult] = [],
    metrics: [MetricResult] = [],
    composition: Composition? = nil,
    compositionAtPeak: Composition? = nil,
    reference: ReferenceInfo? = nil,
    failure: Failure? = nil,
    notes: [Note] = [],
    growthIsPerIteration: Bool = false,
    plan: RepetitionPlan? = nil
  ) {
    summary = ScenarioSummary(
      name: name, verdict: verdict, environment: environment, repetitionCount: repetitions.count,
      growthIsPerIteration: growthIsPerIteration, metrics: metrics, composition: composition)
    self.gate = gate
    self.repetitions = repetitions
    self.compositionAtPeak = compositionAtPeak
    self.reference = reference
    self.failure = failure
    self.notes = notes
    self.plan = plan
    summarize()
  }

  package subscript<Value>(dynamicMember path: WritableKeyPath<ScenarioSummary, Value>) -> Value {
    get { summary[keyPath: path] }
    set { summary[keyPath: path] = newValue }
  }
}

/// What a report shows of the baseline, apart from its values.
package struct ReferenceInfo: Sendable, Equatable {
  package var composition: Composition?
  /// The memory curve of the middle repetition.
  package var curve: MemorySeries?
  /// The number of commits since the approval; nil where it is unknown.
  package var commitsSinceApproval: Int?

  package init(composition: Composition? = nil, curve: MemorySeries? = nil, commitsSinceApproval: Int? = nil) {
    self.composition = composition
    self.curve = curve
    self.commitsSinceApproval = commitsSinceApproval
  }
}

/// What the history stores of a scenario's result: everything that a trend is drawn from.
package struct ScenarioSummary: Sendable, Equatable {
  package var name: ScenarioName
  package var tags: [String]
  package var verdict: Verdict
  /// The environment of this scenario: its isolation and memory limit are part of it.
  package var environment: EnvironmentInfo
  package var repetitionCount: Int
  /// Whether growth is measured per iteration, else per second.
  package var growthIsPerIteration: Bool
  /// The metrics that the gate judges, in its order.
  package var metrics: [MetricResult]
  /// The other metrics that were measured, in the order in which reports list them.
  package var ungated: [MetricResult]
  /// The repetitions that did not end as expected.
  package var failedRepetitions: [FailedRepetition]
  /// Memory composition at the end of the repetition in the middle.
  package var composition: Composition?
  /// The approval of the baseline; nil where the values were not compared with an approved baseline.
  package var approval: Approval?

  package init(
    name: ScenarioName,
    tags: [String] = [],
    verdict: Verdict,
    environment: EnvironmentInfo,
    repetitionCount: Int,
    growthIsPerIteration: Bool = false,
    metrics: [MetricResult] = [],
    ungated: [MetricResult] = [],
    failedRepetitions: [FailedRepetition] = [],
    composition: Composition? = nil,
    approval: Approval? = nil
  ) {
    self.name = name
    self.tags = tags
    self.verdict = verdict
    self.environment = environment
    self.repetitionCount = repetitionCount
    self.growthIsPerIteration = growthIsPerIteration
    self.metrics = metrics
    self.ungated = ungated
    self.failedRepetitions = failedRepetitions
    self.composition = composition
    self.approval = approval
  }

  /// All metrics, in the order in which reports list them.
  package var allMetrics: [MetricResult] {
    (metrics + ungated).sorted { MetricName.isListedBefore($0.metric, $1.metric) }
  }

  package subscript(metric: MetricName) -> MetricResult? {
    (metrics + ungated).first { $0.metric == metric }
  }
}

/// A repetition that did not end as expected.
package struct FailedRepetition: Sendable, Hashable, Codable {
  /// Counts from 1.
  package var number: Int
  package var end: End
  /// The loop that the target reported, which fails a repetition whatever its end.
  package var loop: TargetEvent.Kind?

  package init(number: Int, end: End, loop: TargetEvent.Kind? = nil) {
    self.number = number
    self.end = end
    self.loop = loop
  }
}

extension ScenarioResult {
  /// The unit of a metric as the result file names it; of a value that the target reports, as it was first reported.
  package func unit(of metric: MetricName) -> String {
    metric.unit(perIteration: summary.growthIsPerIteration, reported: reportedUnit(of: metric))
  }

  /// The unit in which the target first reported the metric, or else in which it was judged; nil for other metrics.
  package func reportedUnit(of metric: MetricName) -> String? {
    guard metric.isValue else { return nil }
    let judged = summary.metrics.first { $0.metric == metric && MetricUnit.isValid($0.unit) }
    return repetitions.lazy.compactMap { $0.units[metric] }.first ?? judged?.unit
  }

  /// The index of the repetition with the median peak; of an even number, the upper one.
  package var middleRepetition: Int? {
    let peaks = repetitions.map { $0.metrics[.peakRSS] ?? 0 }
    return peaks.indices.sorted { (peaks[$0], $0) < (peaks[$1], $1) }.dropFirst(peaks.count / 2).first
  }

  /// Derives from the repetitions what the history stores of them: their number, the metrics that no gate asks for, and
  /// bad ends.
  ///
  /// To be called after a change of the repetitions; a judgement does so itself.
  package mutating func summarize() {
    summary.repetitionCount = repetitions.count
    let gated = Set(summary.metrics.map(\.metric))
    let names = Set(repetitions.flatMap { $0.allMetrics.keys }).subtracting(gated)
    summary.ungated = names.sorted(by: MetricName.isListedBefore).map { name in
      MetricResult(
        rule: GateRule(metric: name, tolerance: nil, severity: .off), unit: unit(of: name),
        current: ValueSummary(repetitions.compactMap { $0.allMetrics[name] }))
    }
    summary.failedRepetitions = zip(1..., repetitions).compactMap { number, repetition in
      let loop = repetition.events.first(where: \.isLoop)
      guard loop != nil || !repetition.endedWell(inFailed: summary.verdict == .failed) else { return nil }
      return FailedRepetition(number: number, end: repetition.end, loop: loop?.kind)
    }
  }
}

extension RepetitionResult {
  /// Whether its end is no failure.
  ///
  /// The result does not say which ends were expected: an exit or a signal is a failure only where the scenario failed.
  fileprivate func endedWell(inFailed scenarioFailed: Bool) -> Bool {
    guard end.oomKills == 0 else { return false }
    return switch end.kind {
    case .stopped: true
    case .exited, .signaled: !scenarioFailed || (end.code == 0 && end.signal == nil)
    default: false
    }
  }
}
