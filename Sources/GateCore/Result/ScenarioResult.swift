/// The judged result of one scenario, which reports, files and pages read.
@dynamicMemberLookup
package struct ScenarioResult: Sendable, Equatable {
  /// The part that the history stores.
  package var summary: ScenarioSummary
  /// The rules of the judgement, so that the result can be judged again.
  package var gate: Gate
  /// The counted repetitions, in order.
  package var repetitions: [RepetitionResult]
  /// The composition of memory closest to the peak, in the same repetition as ``ScenarioSummary/composition``.
  package var compositionAtPeak: Composition?
  /// The living instances by class; nil if the gate has no rule on them.
  package var instances: InstanceCounts?
  /// The further run of the scenario's `limit`, whose values are not among the repetitions; nil without one.
  package var limitedRun: LimitedRun?
  /// The tests of a suite, which decide its verdict; nil for a program.
  package var suite: SuiteResult?
  /// The reference of the comparison, if any.
  package var reference: ReferenceInfo?
  /// Why the scenario failed; nil if it did not.
  package var failure: Failure?
  package var notes: [Note]
  /// The plan of repetitions; nil if their number was fixed.
  package var plan: RepetitionPlan?
  /// Where the time of the measurement went, that of a comparison build included.
  package var times = TimeUse()
  /// What was measured; nil for a file of another program.
  package var definition: ScenarioDefinition?

  package init(
    name: ScenarioName,
    verdict: Verdict,
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

/// Details of the baseline for reports, apart from its values.
package struct ReferenceInfo: Sendable, Equatable {
  package var composition: Composition?
  /// The memory curve of the median repetition.
  package var curve: MemorySeries?
  /// The number of commits since the approval; nil if it is unknown.
  package var commitsSinceApproval: Int?

  package init(composition: Composition? = nil, curve: MemorySeries? = nil, commitsSinceApproval: Int? = nil) {
    self.composition = composition
    self.curve = curve
    self.commitsSinceApproval = commitsSinceApproval
  }
}

/// The part of a scenario's result that the history stores, from which trends are drawn.
package struct ScenarioSummary: Sendable, Equatable {
  package var name: ScenarioName
  package var tags: [String]
  package var verdict: Verdict
  /// The environment of this scenario, which includes its isolation and memory limit.
  package var environment: EnvironmentInfo
  package var repetitionCount: Int
  /// Whether growth is per iteration rather than per second.
  package var growthIsPerIteration: Bool
  /// The gated metrics, in the gate's order.
  package var metrics: [MetricResult]
  /// The other measured metrics, in report order.
  package var ungated: [MetricResult]
  /// The repetitions that did not end as expected.
  package var failedRepetitions: [FailedRepetition]
  /// The composition of memory at the end of the median repetition.
  package var composition: Composition?
  /// The approval of the baseline; nil without a comparison with an approved baseline.
  package var approval: Approval?
  /// What explains the rise of a regression, if it was profiled.
  package var explanation: RiseExplanation?

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
    approval: Approval? = nil,
    explanation: RiseExplanation? = nil
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
    self.explanation = explanation
  }

  /// All metrics, in report order.
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
  /// The loop that the target reported, which fails a repetition however it ends.
  package var loop: TargetEvent.Kind?

  package init(number: Int, end: End, loop: TargetEvent.Kind? = nil) {
    self.number = number
    self.end = end
    self.loop = loop
  }
}

extension ScenarioResult {
  /// The unit of a metric as in the result file; for a reported value, the unit of its first report.
  package func unit(of metric: MetricName) -> String {
    metric.unit(perIteration: summary.growthIsPerIteration, reported: reportedUnit(of: metric))
  }

  /// The unit in which the target first reported the metric, or else in which it was judged; nil for other metrics.
  package func reportedUnit(of metric: MetricName) -> String? {
    guard metric.isValue else { return nil }
    let judged = summary.metrics.first { $0.metric == metric && MetricUnit.isValid($0.unit) }
    return repetitions.reportedUnit(of: metric) ?? judged?.unit
  }

  /// The index of the repetition with the median peak; of an even number, the upper one.
  package var middleRepetition: Int? { repetitions.middle }

  /// The command of the main process in that repetition; nil if it is unknown.
  package var program: String? {
    middleRepetition.flatMap { repetitions[$0].largestProcesses.first(where: \.isMain)?.command }
  }

  /// Derives the summary from the repetitions: their number, the ungated metrics, and failed ends.
  ///
  /// Call it after a change of the repetitions; a judgement calls it itself.
  package mutating func summarize() {
    summary.repetitionCount = repetitions.count
    let gated = Set(summary.metrics.map(\.metric))
    let values = repetitions.map(\.allMetrics)
    let names = Set(values.flatMap(\.keys)).subtracting(gated)
    summary.ungated = names.sorted(by: MetricName.isListedBefore).map { name in
      MetricResult(
        rule: GateRule(metric: name, tolerance: nil, severity: .off), unit: unit(of: name), verdict: .skipped,
        current: ValueSummary(values.compactMap { $0[name] }))
    }
    summary.failedRepetitions = zip(1..., repetitions).compactMap { number, repetition in
      let loop = repetition.events.first(where: \.isLoop)
      guard loop != nil || !repetition.endedWell(inFailed: summary.verdict == .failed) else { return nil }
      return FailedRepetition(number: number, end: repetition.end, loop: loop?.kind)
    }
  }
}

extension RepetitionResult {
  /// Whether the end is not a failure.
  ///
  /// The result does not have the expected ends: an exit or a signal is a failure only if the scenario failed.
  fileprivate func endedWell(inFailed scenarioFailed: Bool) -> Bool {
    guard end.oomKills == 0 else { return false }
    return switch end.kind {
    case .stopped: true
    case .exited, .signaled: !scenarioFailed || (end.code == 0 && end.signal == nil)
    default: false
    }
  }
}
