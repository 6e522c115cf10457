import Statistics

extension ScenarioMeasurement {
  /// Judges the values; equal values have equal verdicts on every machine.
  ///
  /// If `allowsMissingBaseline` is true, a metric without a baseline is `skipped` instead of `no-baseline`, unless
  /// another environment has one.
  package func judged(against reference: Reference, allowsMissingBaseline: Bool = false) -> ScenarioResult {
    // Nobody sees this verdict: the judgement replaces it.
    ScenarioResult(self, verdict: .inconclusive)
      .judged(against: reference, allowsMissingBaseline: allowsMissingBaseline)
  }
}

extension ScenarioResult {
  /// Judges the values again: replaces the results and notes of the earlier judgement and keeps those of the measurement.
  package func judged(against reference: Reference, allowsMissingBaseline: Bool = false) -> ScenarioResult {
    // The tests of a suite are judged where they run.
    guard suite == nil else { return self }
    var result = self
    result.metrics = []
    result.reference = nil
    result.approval = nil
    result.explanation = nil
    result.notes.removeAll(where: \.isOnVerdict)
    if gate.hasPatterns { result.gate.addRules(for: Set(repetitions.flatMap(\.allMetrics.keys))) }
    result.summary.verdict = result.judge(against: reference, missing: allowsMissingBaseline ? .skipped : .noBaseline)
    result.summarize()
    return result
  }

  private mutating func judge(against reference: Reference, missing: Verdict) -> Verdict {
    if let failure { return failure.verdict }
    guard !repetitions.isEmpty else {
      notes.append(.noRepetitions)
      return .inconclusive
    }
    return judgeMetrics(against: reference, missing: missing)
  }

  private mutating func judgeMetrics(against reference: Reference, missing: Verdict) -> Verdict {
    var (baseline, missing) = (nil as Baseline?, missing)
    switch reference {
    case .baseline(let found):
      baseline = found
      self.reference = ReferenceInfo(composition: found.composition, curve: found.curve)
      summary.approval = found.approval
    case .missing: break
    case .missingOfNew(let end): notes.append(.newWithoutBaseline(until: end))
    case .missingTooLong(let begin):
      notes.append(.tooLongWithoutBaseline(since: begin))
      missing = .noBaseline
    case .otherEnvironment(let name, let differences):
      notes.append(.otherEnvironment(name: name, differences: differences))
      // It was approved somewhere: on a new kind of machine the gate would be off without an end.
      missing = .noBaseline
    case .unusable(let defect):
      notes.append(.unusableBaseline(defect: defect))
      // It is not missing: somebody has to settle it.
      missing = .noBaseline
    }
    judgeRules(against: baseline, missing: missing)
    notes += baseline.map(notesOnRises) ?? [noteOnUngatedGrowth].compactMap(\.self)
    if let growth = hiddenGrowth { notes.append(.hiddenGrowth(growth: growth)) }
    var verdict = verdictOfMetrics
    if let baseline { reviseImprovement(&verdict, over: baseline) }
    if !verdict.isProblem, repetitions.contains(where: { $0.notes.contains(where: \.mayHideFailure) }) {
      verdict = .inconclusive
    }
    noteDifferences(from: baseline, verdict)
    return verdict
  }

  private mutating func judgeRules(against baseline: Baseline?, missing: Verdict) {
    for rule in gate.rules where rule.severity != .off && !isReplaced(rule) {
      let missing = baseline.map { isNew(rule.metric, since: $0) } == true ? .skipped : missing
      let judged = MetricInScenario(rule: rule, scenario: self, baseline: baseline, missing: missing).judged
      if let metric = judged.metric { summary.metrics.append(metric) }
      if let note = judged.note { notes.append(note) }
    }
    if gate.hasPatterns, let note = baseline.flatMap(noteOnOtherPhases) { notes.append(note) }
    if gate.isStandard { weighRisesAgainstTree() }
    notes += summary.metrics.compactMap(\.noteOnTwoLevels)
    if let limitedRun { summary.metrics.append(limitedRun.judged) }
    if summary.metrics.isEmpty { notes.append(.nothingJudged) }
    if let note = noteOnTooFewValues { notes.append(note) }
    notes += baseline?.creep(under: gate).map(Note.creep) ?? []
    if let note = baseline.flatMap(noteOnSummedChanges) { notes.append(note) }
  }

  /// Whether the rule is a pattern that stands for metrics with rules of their own.
  private func isReplaced(_ rule: GateRule) -> Bool {
    rule.metric.isPattern && gate.rules.contains { rule.metric.stands(for: $0.metric) }
  }

  /// Whether a pattern stands for the metric, and the baseline lacks it, as that of a new test of a suite.
  private func isNew(_ metric: MetricName, since baseline: Baseline) -> Bool {
    baseline.metrics[metric] == nil && gate.pattern(for: metric) != nil
  }

  /// A note on phases of a pattern that only this build or only the baseline has.
  private func noteOnOtherPhases(than baseline: Baseline) -> Note? {
    func phases(_ metrics: some Sequence<MetricName>) -> Set<String> {
      Set(metrics.filter { gate.pattern(for: $0) != nil }.compactMap { $0.inPhase?.phase })
    }
    let (now, before) = (phases(gate.rules.lazy.map(\.metric)), phases(baseline.metrics.keys))
    guard now != before else { return nil }
    return .otherPhases(new: ReportedNames(now.subtracting(before)), gone: ReportedNames(before.subtracting(now)))
  }

  /// Notes what differs from the baseline besides the values.
  private mutating func noteDifferences(from baseline: Baseline?, _ verdict: Verdict) {
    // Another build differs on purpose.
    if comparedBuild == nil {
      notes += [baseline.flatMap(noteOnScenario), baseline.flatMap(noteOnProgram)].compactMap(\.self)
    }
    let differences = baseline.map { summary.environment.fingerprint.differences(fromBaseline: $0.fingerprint) } ?? []
    if !differences.isEmpty {
      // If values changed, the environment is the first thing to check.
      notes.insert(.environmentChanged(differences: differences), at: verdict == .pass ? notes.endIndex : 0)
    }
  }

  /// What the judged metrics say together; `skipped` if the gate switches off all of them, which a note says.
  private var verdictOfMetrics: Verdict {
    Verdict.combined(summary.metrics.map { $0.rule.severity == .fail ? $0.verdict : .pass }) ?? .skipped
  }

  /// The result with the verdict of its failure or its metrics, if that is worse than its own: the file of a job is not
  /// believed when it contradicts itself.
  func withConsistentVerdict() -> ScenarioResult {
    let others = [failure?.verdict, verdictOfMetrics].compactMap(\.self)
    let worst = others.reduce(summary.verdict) { $0.combined(with: $1) }
    guard worst.exitCode != .pass else { return self }
    var result = self
    result.summary.verdict = worst
    return result
  }

  /// The result judged again by its values, if that is worse than its own verdict.
  ///
  /// Honest results are as they were: the same values against the same baseline have the same verdict.
  package func judgedAgain(against baseline: Baseline) -> ScenarioResult {
    let again = judged(against: .baseline(baseline))
    return summary.verdict.combined(with: again.summary.verdict) == summary.verdict ? self : again
  }

  /// A note if the sum of approved changes allows a rise that is a quarter larger than that of the tolerance, or more.
  private func noteOnSummedChanges(of baseline: Baseline) -> Note? {
    let isLarge = summary.metrics.contains { metric in
      guard let deviation = baseline.uncertainties[metric.metric], let level = metric.baseline?.median,
        let allowed = metric.allowed
      else { return false }
      return Tolerance.allowed(forUncertainty: deviation, at: level, of: metric.metric) > allowed / 5
    }
    return isLarge ? .summedChanges(count: baseline.changeCount) : nil
  }

  /// A note if a metric that can fail the scenario was compared by size alone.
  private var noteOnTooFewValues: Note? {
    let judged = summary.metrics.first {
      $0.method == .thresholds && $0.rule.severity == .fail && !$0.metric.isCounted
    }
    guard let judged, let now = judged.current?.count, let before = judged.baseline?.count else { return nil }
    return .tooFewValues(current: now, baseline: before)
  }
}

extension LimitedRun {
  /// The verdict on the scenario's `limit`, which needs no baseline.
  fileprivate var judged: MetricResult {
    MetricResult(
      rule: GateRule(metric: .limit, tolerance: nil, limit: .size(limit)), unit: "bytes",
      verdict: verdict, reason: survived ? nil : .doesNotSurvive(run: self))
  }

  private var verdict: Verdict {
    switch outcome {
    case .survived: .pass
    // It did not run at this limit, so nothing is known of it.
    case .unlimited: .inconclusive
    case .killed, .failed, .stalled: .regression
    }
  }
}

/// One rule of a scenario's gate, with everything needed to judge it.
private struct MetricInScenario {
  let rule: GateRule
  let scenario: ScenarioResult
  let baseline: Baseline?
  /// The verdict if there is no baseline.
  let missing: Verdict

  private var metric: MetricName { rule.metric }
  private var repetitions: [RepetitionResult] { scenario.repetitions }
  private var values: [Double] { repetitions.compactMap { $0.value(of: metric) } }

  /// The metric's result, or a note on why it is not judged; neither if the default gate has a metric that the
  /// scenario cannot have.
  var judged: (metric: MetricResult?, note: Note?) {
    if metric.isCounted { return judgedCounts }
    let judged = judgedValues
    guard var result = judged.metric, !result.verdict.isProblem, let hiding = incompleteness else { return judged }
    (result.verdict, result.reason) = (.inconclusive, .incomplete(note: hiding))
    return (result, judged.note)
  }

  /// What the repetitions left out that could have raised the metric; nil if nothing was.
  private var incompleteness: RecordingNote? {
    repetitions.lazy.flatMap(\.notes).first { $0.mayHideValue(of: metric) }
  }

  private var judgedValues: (metric: MetricResult?, note: Note?) {
    if scenario.gate.isStandard {
      if let note = baseline.flatMap(noteOnUnit) { return (nil, note) }
      let hasTreeMemory = scenario.hasTreeMemory || baseline?.hasTreeMemory == true
      guard
        metric.isInDefaultGate(hasTreeMemory: hasTreeMemory, growthIsPerIteration: scenario.growthIsPerIteration)
      else { return (nil, nil) }
      if let note = baseline.flatMap(noteOnUnsteady) { return (nil, note) }
    }
    let values = values
    guard values.count * 2 > repetitions.count else {
      return unavailable(in: values.count, because: unavailability(values.count))
    }
    if let reason = metric.isOfTree ? treeMethodReason : unitReason {
      // The same program may be checked with and without a cgroup.
      if scenario.gate.isStandard, case .otherTreeMethod(let before, let now) = reason {
        return (nil, .otherTreeMethod(metric: metric, baseline: before, current: now))
      }
      return (MetricResult(rule: rule, unit: unit, verdict: .inconclusive, reason: reason), nil)
    }
    let judgement = MetricJudgement(
      rule: rule,
      unit: unit,
      current: values,
      baseline: baseline?.metrics[metric].flatMap { $0.isEmpty ? nil : $0 },
      uncertainty: baseline?.uncertainties[metric] ?? 0,
      missingBaseline: missing,
      plan: scenario.plan ?? RepetitionPlan(min: repetitions.count, max: repetitions.count),
      repetitions: repetitions.count,
      growth: metric == .growth ? repetitions.compactMap(\.growth) : []
    )
    var result = judgement.result
    if baseline == nil, result.verdict == missing { result.reason = .noBaseline }
    guard result.verdict == .improved, let doubt = judgement.doubtOnFall(in: scenario) else { return (result, nil) }
    (result.verdict, result.reason) = (.pass, nil)
    return (result, .uncertainFall(metric: metric, cause: doubt))
  }

  /// Compares the least numbers of both sides by size: what is counted has no noise that more repetitions would show.
  private var judgedCounts: (metric: MetricResult?, note: Note?) {
    let (now, before) = (scenario.instances?.least(of: metric), baseline?.instances?.least(of: metric))
    guard let counts = scenario.instances, counts.refusal == nil || !metric.isInstances,
      now != nil || before != nil && metric.isInstances
    else { return unavailable(in: 0, because: unavailabilityOfCounts) }
    let hasBaseline = metric.isInstances ? baseline?.instances != nil : before != nil
    let judgement = MetricJudgement(
      rule: rule, unit: unit, current: [now ?? 0], baseline: hasBaseline ? [before ?? 0] : nil,
      missingBaseline: missing, plan: RepetitionPlan(min: 1, max: 1), repetitions: 1, growth: [])
    var result = judgement.result
    if baseline == nil, result.verdict == missing { result.reason = .noBaseline }
    if rule.isExact { requireExactness(of: &result) }
    return (result, nil)
  }

  /// Fewer than the baseline or the limit would let a later rise by as many pass.
  private func requireExactness(of result: inout MetricResult) {
    guard !result.verdict.isProblem, let now = result.current?.median else { return }
    let wanted = rule.limit?.value ?? result.baseline?.median
    if let wanted, now < wanted { (result.verdict, result.reason) = (.regression, .fewer(than: wanted)) }
  }

  private var unavailabilityOfCounts: Unavailability {
    if !metric.isInstances { return .allocationsNotCounted(refusal: scenario.instances?.allocationRefusal) }
    guard let counts = scenario.instances else { return .instancesNotCounted(refusal: nil) }
    if let refusal = counts.refusal { return .instancesNotCounted(refusal: refusal) }
    let others = Set(counts.metrics.keys.filter(\.isInstances).map(\.reportedName))
    return .noInstances(others: ReportedNames(others, missing: metric.reportedName))
  }

  /// A note if growth was per iteration in the baseline or is now, but not both.
  private func noteOnUnit(_ baseline: Baseline) -> Note? {
    guard metric.kind == .slope else { return nil }
    let before = baseline.metrics[metric] == nil ? nil : baseline.units[metric]
    let perIteration = metric.unit(perIteration: true)
    guard before != unit, before == perIteration || unit == perIteration else { return nil }
    return .otherUnit(metric: metric, baseline: before, current: unit)
  }

  private var reportedUnits: [String] { Set(repetitions.compactMap { $0.units[metric] }).sorted() }

  private var unit: String {
    metric.unit(perIteration: scenario.growthIsPerIteration, reported: reportedUnits.first ?? baseline?.units[metric])
  }

  /// Why the values of process trees cannot be compared; nil if they can.
  private var treeMethodReason: VerdictReason? {
    let methods = Set(repetitions.map(\.treeMethod)).sorted { $0.rawValue < $1.rawValue }
    guard let method = methods.first else { return nil }
    if !methods.allSatisfy(method.isComparable) { return .mixedTreeMethods(methods: methods) }
    guard let before = baseline?.treeMethod, !method.isComparable(to: before) else { return nil }
    return .otherTreeMethod(baseline: before, current: method)
  }

  /// Why reported values cannot be compared with each other or with the rule's amounts.
  private var unitReason: VerdictReason? {
    if metric.kind == .slope, let before = baseline?.units[metric], before != unit {
      return .otherUnit(baseline: before, current: unit)
    }
    let units = reportedUnits
    guard let unit = units.first else { return nil }
    if units.count > 1 { return .mixedUnits(units: units) }
    var amounts = [rule.limit]
    if case .bounds(_, let absolute) = rule.tolerance { amounts.append(absolute) }
    if let amount = amounts.compactMap(\.self).first(where: { !$0.fits(unit: unit) }) {
      return .wrongUnitInGate(amount: amount, reported: unit)
    }
    guard let before = baseline?.units[metric], before != unit else { return nil }
    return .otherUnit(baseline: before, current: unit)
  }

  /// Why the default gate does not judge a metric of the baseline; nil if it does.
  ///
  /// At least nine tenths of the baseline's repetitions must have it: a steady state that only some repetitions reach
  /// would be missing at random in later checks of the same program.
  private func noteOnUnsteady(_ baseline: Baseline) -> Note? {
    guard baseline.isSeldomSteady(in: metric) else { return nil }
    let (steady, all) = (baseline.metrics[metric]?.count ?? 0, baseline.repetitionCount)
    let (now, total) = (values.count, repetitions.count)
    guard FisherTest.pValue(ofRiseFrom: now, of: total, to: steady, of: all) > RepetitionPlan.falseAlarms else {
      return .metricLost(metric: metric, before: steady, ofBefore: all, now: now, ofNow: total)
    }
    return .baselineSeldomSteady(metric: metric, count: steady, total: all)
  }

  /// The result of a metric that most repetitions lack.
  ///
  /// It is inconclusive, `no-baseline` without a baseline, or only a note if the default gate has no baseline.
  private func unavailable(in count: Int, because cause: Unavailability) -> (metric: MetricResult?, note: Note?) {
    if scenario.gate.isStandard, metric.row?.isIndispensable != true, baseline == nil {
      return (nil, .notJudged(metric: metric, cause: cause))
    }
    let lacksBaseline = baseline == nil && rule.tolerance != nil && missing == .noBaseline
    let verdict: Verdict = lacksBaseline ? .noBaseline : .inconclusive
    var result = MetricResult(rule: rule, unit: unit, verdict: verdict, reason: .unavailable(cause: cause))
    // With more repetitions most may have it: on a busy machine programs become steady less often.
    result.isUndecided = verdict == .inconclusive && count > 0
    return (result, nil)
  }

  private func unavailability(_ count: Int) -> Unavailability {
    if let (phase, metric) = metric.inPhase { return unavailability(of: metric, in: phase, count) }
    if metric.isValue { return unavailabilityOfValue(count) }
    switch metric.row?.requirement {
    case .readings, nil: return .tooFewReadings
    case .steadyStateOrIterations where scenario.growthIsPerIteration: return .iterationsTooFast
    case .steadyStateAfterLoad where !repetitions.contains(where: \.hasLoad): return .noLoad
    case .steadyState, .steadyStateOrIterations, .steadyStateAfterLoad: break
    }
    guard count == 0 else { return .seldomSteady(in: count, of: repetitions.count) }
    return .neverSteady(steadiness: mostFrequentUnsteadiness ?? .unsteady)
  }

  private func unavailability(of metric: MetricName, in phase: String, _ count: Int) -> Unavailability {
    let phases = repetitions.map { Set($0.phases.map(\.name) + $0.allMetrics.keys.compactMap { $0.inPhase?.phase }) }
    let started = phases.count { $0.contains(phase) }
    if started == 0 {
      let others = phases.reduce(into: Set()) { $0.formUnion($1) }
      return others.isEmpty ? .noPhaseStarted : .phaseNotStarted(started: ReportedNames(others, missing: phase))
    }
    guard started * 2 > repetitions.count else { return .phaseSeldomStarted(in: started, of: repetitions.count) }
    return metric.row?.requirement.isOfSteadyState == true
      ? .phaseSeldomSteady(in: count, of: repetitions.count) : .phaseSeldomRead(in: count, of: repetitions.count)
  }

  private func unavailabilityOfValue(_ count: Int) -> Unavailability {
    let others = Set(repetitions.flatMap { $0.metrics.keys.filter(\.isValue).map(\.reportedName) })
    guard count == 0, !others.isEmpty else { return .notReported(in: count, of: repetitions.count) }
    return .otherValuesReported(reported: ReportedNames(others, missing: metric.reportedName))
  }

  private var mostFrequentUnsteadiness: Steadiness? {
    let states = repetitions.compactMap(\.steadiness).filter { $0 != .steady }
    func count(_ state: Steadiness) -> Int { states.count { $0 == state } }
    return Set(states).max { (count($0), $1.rawValue) < (count($1), $0.rawValue) }
  }
}

extension RepetitionResult {
  /// Whether a phase or an iteration began.
  fileprivate var hasLoad: Bool { !phases.isEmpty || curve.map { $0.iterations > 0 } == true }
}
