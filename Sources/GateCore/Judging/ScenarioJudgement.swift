import FoundationEssentials

/// What a scenario's figures are compared with.
package enum Reference: Sendable, Equatable {
  case baseline(Baseline)
  /// None is stored for this environment.
  case missing
  /// The nearest stored baseline is of another environment.
  case otherEnvironment(name: String, differences: [Fingerprint.Difference])
}

/// One scenario's measurements, ready to be judged.
package struct ScenarioMeasurements: Sendable, Equatable {
  package var name: ScenarioName
  package var environment: EnvironmentInfo
  package var gate: Gate
  /// The counted repetitions.
  package var repetitions: [RepetitionResult]
  package var composition: Composition?
  /// Of the same repetition as ``composition``.
  package var compositionAtPeak: Composition?
  package var growthIsPerIteration: Bool
  /// How many repetitions the verdict may ask for; nil where their number was fixed.
  package var plan: RepetitionPlan?
  /// Why a repetition, a warm-up included, cannot count.
  package var failure: Failure?
  /// Whether an unknown hand killed a target: then nothing is known, and nothing has failed.
  package var wasKilled: Bool
  package var notes: [String]

  package init(
    name: ScenarioName,
    environment: EnvironmentInfo,
    gate: Gate,
    repetitions: [RepetitionResult],
    composition: Composition? = nil,
    compositionAtPeak: Composition? = nil,
    growthIsPerIteration: Bool = false,
    plan: RepetitionPlan? = nil,
    failure: Failure? = nil,
    wasKilled: Bool = false,
    notes: [String] = []
  ) {
    self.name = name
    self.environment = environment
    self.gate = gate
    self.repetitions = repetitions
    self.composition = composition
    self.compositionAtPeak = compositionAtPeak
    self.growthIsPerIteration = growthIsPerIteration
    self.plan = plan
    self.failure = failure
    self.wasKilled = wasKilled
    self.notes = notes
  }

  /// Judges the measurements: the same values give the same verdict on any machine.
  ///
  /// Where `allowsMissingBaseline` is true, a metric without a baseline is skipped instead of being `no-baseline`.
  package func judged(against reference: Reference, allowsMissingBaseline: Bool = false) -> ScenarioResult {
    var result = ScenarioResult(
      name: name,
      verdict: .pass,
      environment: environment,
      gate: gate,
      repetitions: repetitions,
      currentComposition: composition,
      compositionAtPeak: compositionAtPeak,
      failure: failure,
      notes: notes,
      growthIsPerIteration: growthIsPerIteration,
      plan: plan
    )
    guard failure == nil else {
      result.verdict = wasKilled ? .inconclusive : .failed
      return result
    }
    guard !repetitions.isEmpty else {
      result.verdict = .inconclusive
      result.notes.append("there is no counted repetition")
      return result
    }
    judgeMetrics(of: &result, against: reference, missing: allowsMissingBaseline ? .skipped : .noBaseline)
    return result
  }

  private func judgeMetrics(of result: inout ScenarioResult, against reference: Reference, missing: Verdict) {
    var baseline: Baseline?
    switch reference {
    case .baseline(let found):
      baseline = found
      result.baselineComposition = found.composition
      result.baselineCurve = found.curve
      // Figures of a mere result were approved by nobody.
      if !found.approved.by.isEmpty { result.approval = found.approved }
    case .missing:
      break
    case .otherEnvironment(let name, let differences):
      result.notes.append(note(onOther: name, differences))
    }
    for rule in gate.rules where rule.severity != .off {
      let (metric, note) = judge(rule, baseline, missing: missing)
      if let metric { result.metrics.append(metric) }
      if let note { result.notes.append(note) }
    }
    if result.metrics.isEmpty {
      result.notes.append("nothing was judged: every metric of its gate is off")
    }
    if let note = noteOnFewness(of: result) { result.notes.append(note) }
    result.notes += baseline?.creep(under: gate).map { $0.sentence(unit: result.unit(of: $0.metric)) } ?? []
    let counting = result.metrics.map { $0.rule.severity == .fail ? $0.verdict : .pass }
    result.verdict = Verdict.combined(counting)
    if let note = baseline.flatMap(noteOnEnvironment) {
      // A changed environment is the first suspect of a changed figure.
      result.notes.insert(note, at: result.verdict == .pass ? result.notes.endIndex : 0)
    }
  }

  private func judge(
    _ rule: GateRule,
    _ baseline: Baseline?,
    missing: Verdict
  ) -> (metric: MetricResult?, note: String?) {
    let metric = rule.metric
    let values = repetitions.compactMap { $0.allMetrics[metric] }
    let old = baseline?.metrics[metric].flatMap { $0.isEmpty ? nil : $0 }
    let reported = Set(repetitions.compactMap { $0.units[metric] }).sorted()
    let unit = metric.unit(perIteration: growthIsPerIteration, reported: reported.first ?? baseline?.units[metric])
    if gate.isStandard, metric != .peakRSS, let baseline, let note = Self.noteOnUnsteady(metric, baseline) {
      return (nil, note)
    }
    guard values.count * 2 > repetitions.count else {
      return unavailable(rule, unit: unit, baseline: baseline, missing: missing, had: values.count)
    }
    if let reason = metric.isOfTree
      ? reasonAgainstTrees(of: baseline) : reasonAgainstUnits(reported, of: rule, beside: baseline)
    {
      return (MetricResult(rule: rule, unit: unit, verdict: .inconclusive, reason: reason), nil)
    }
    let judgement = MetricJudgement(
      rule: rule,
      unit: unit,
      current: values,
      baseline: old,
      missingBaseline: missing,
      plan: plan ?? RepetitionPlan(min: repetitions.count, max: repetitions.count),
      repetitions: repetitions.count,
      growth: metric == .growth ? repetitions.compactMap(\.growth) : []
    )
    var result = judgement.result
    if baseline == nil, result.verdict == missing { result.reason = "there is no baseline for this environment" }
    return (result, nil)
  }

  /// Why the figures of the process trees do not belong together; nil where all count the same.
  private func reasonAgainstTrees(of baseline: Baseline?) -> String? {
    let bases = Set(repetitions.map(\.treeMethod.rawValue)).sorted()
    if bases.count > 1 {
      return "the repetitions counted their process trees in different ways: \(bases.joined(separator: ", "))"
    }
    guard let basis = bases.first, let before = baseline?.treeMethod.rawValue, basis != before else { return nil }
    return "the baseline's process trees were counted in another way: \(before) there, \(basis) here; approve again"
  }

  /// Why figures of the target's own do not belong together or to the rule's amounts; nil where they do.
  private func reasonAgainstUnits(_ reported: [String], of rule: GateRule, beside baseline: Baseline?) -> String? {
    guard let unit = reported.first else { return nil }
    if reported.count > 1 { return "the repetitions reported it in different units: \(reported.joined(separator: ", "))" }
    var amounts = [rule.limit]
    if case .bounds(_, let absolute) = rule.tolerance { amounts.append(absolute) }
    if let amount = amounts.compactMap(\.self).first(where: { !$0.fits(unit: unit) }) {
      return "the gate names `\(amount.spelled)`, and the target reports it in \(unit)"
    }
    guard let before = baseline?.units[rule.metric], before != unit else { return nil }
    return "the baseline has it in \(before), and the target reports it in \(unit) now; approve again"
  }

  /// Why a baseline's steady level is not judged where no gate asks for it; nil where it is.
  ///
  /// The baseline was steady if at most a tenth of its repetitions were not: a steady state that comes and goes from
  /// one repetition to the next would be missed at random by a later check of the same program.
  private static func noteOnUnsteady(_ metric: MetricName, _ baseline: Baseline) -> String? {
    let steady = baseline.metrics[metric]?.count ?? 0
    let all = baseline.metrics.values.map(\.count).max() ?? 0
    guard steady == 0 || (all - steady) * 10 > all else { return nil }
    return steady == 0
      ? "\(metric) is not judged: the baseline had no steady state"
      : "\(metric) is not judged: only \(steady) of the baseline's \(all) repetitions became steady"
  }

  /// A metric that most repetitions lack is inconclusive where a gate or the baseline asks for it; where a baseline is
  /// missing, that is what has to be said first.
  private func unavailable(
    _ rule: GateRule,
    unit: String,
    baseline: Baseline?,
    missing: Verdict,
    had count: Int
  ) -> (metric: MetricResult?, note: String?) {
    let metric = rule.metric
    let why = whyUnavailable(metric, count)
    if gate.isStandard, metric != .peakRSS, baseline == nil {
      return (nil, "\(metric) is not judged: \(why)")
    }
    let lacksBaseline = baseline == nil && rule.tolerance != nil && missing == .noBaseline
    let verdict: Verdict = lacksBaseline ? .noBaseline : .inconclusive
    var result = MetricResult(rule: rule, unit: unit, verdict: verdict, reason: "cannot be had: \(why)")
    // What some repetitions had, most of more may have: on a busy machine a program becomes steady less often.
    result.isUndecided = verdict == .inconclusive && count > 0
    return (result, nil)
  }

  private func whyUnavailable(_ metric: MetricName, _ count: Int) -> String {
    if metric.text.hasPrefix("phase."), !repetitions.contains(where: { !$0.phases.isEmpty }) {
      return "no phase was started"
    }
    if metric.isValue {
      let share = count == 0 ? "no repetition" : "only \(count) of \(repetitions.count) repetitions"
      return "the target reported it (`value \(metric.reportedName) NUMBER UNIT`) in \(share)"
    }
    switch metric {
    case .peakRSS, .treePeak: return "the target ended before \(Recording.fewestReadings) readings of it were made"
    case .faultRate: return "the target's page faults were read less than twice"
    case .growth where growthIsPerIteration:
      return "the iterations came too fast for their levels to be read; more work in each may help"
    default:
      return whyUnsteady(count) + "; a longer scenario may show it"
    }
  }

  /// Says so where a metric that counts was judged by its size alone.
  private func noteOnFewness(of result: ScenarioResult) -> String? {
    let judged = result.metrics.first { $0.method == .thresholds && $0.rule.severity == .fail }
    guard let judged, let now = judged.current?.count, let before = judged.baseline?.count else { return nil }
    return "no statistics: \(now) against \(before) values are too few to tell a change from chance, so its size alone "
      + "counts; 5 of each are enough"
  }

  /// Why most repetitions have no steady level, by what most of those say.
  private func whyUnsteady(_ count: Int) -> String {
    guard count == 0 else {
      return "resident memory only in \(count) of \(repetitions.count) repetitions became steady"
    }
    let reasons = repetitions.compactMap { $0.steadiness?.explanation }
    let most = Set(reasons).max { first, second in
      (reasons.count { $0 == first }, second) < (reasons.count { $0 == second }, first)
    }
    return most ?? "resident memory never became steady"
  }

  private func note(onOther name: String, _ differences: [Fingerprint.Difference]) -> String {
    let fields = differences.filter(\.field.isHard)
    let list = (fields.isEmpty ? differences : fields).map(\.displayText).joined(separator: ", ")
    // One name for machines that are not alike: the team's own, or a file that somebody changed.
    guard name != environment.name else {
      return "there is a baseline of this name, but of another environment (baseline → here): \(list)"
    }
    let detail = list.isEmpty ? "" : "; what differs from it (baseline → here): \(list)"
    return "the nearest baseline is of the environment \(name)\(detail)"
  }

  private func noteOnEnvironment(of baseline: Baseline) -> String? {
    let differences = environment.fingerprint.differences(fromBaseline: baseline.fingerprint)
    guard !differences.isEmpty else { return nil }
    let list = differences.map(\.displayText).joined(separator: ", ")
    return "the environment is not the baseline's (baseline → here): \(list)"
  }
}

extension Fingerprint.Difference {
  /// The difference for a person, as in `cpus 2 → 4`.
  package var displayText: String {
    guard field != .environmentHash else { return "the target's environment variables are others" }
    return "\(field.rawValue) \(baseline.isEmpty ? "none" : baseline) → \(current.isEmpty ? "none" : current)"
  }
}

extension Baseline {
  /// Whether figures of this environment may be compared with the baseline's.
  package func isComparable(to environment: EnvironmentInfo) -> Bool {
    environment.fingerprint.differences(fromBaseline: fingerprint)
      .allSatisfy { !$0.field.isHard || environment.ignoredFields.contains($0.field) }
  }

  /// A scenario's measurements as what later ones are compared with.
  ///
  /// Figures of process trees that were not all counted in the same way are left out.
  package init(of result: ScenarioResult, approved: Approval) {
    let bases = Set(result.repetitions.map(\.treeMethod))
    let names = Set(result.repetitions.flatMap { $0.allMetrics.keys }).filter { !$0.isOfTree || bases.count == 1 }
    let columns = names.map { name in (name, result.repetitions.compactMap { $0.allMetrics[name] }) }
    self.init(
      scenario: result.name,
      environment: result.environment.name,
      fingerprint: result.environment.fingerprint,
      metrics: Dictionary(uniqueKeysWithValues: columns),
      composition: result.currentComposition,
      treeMethod: result.repetitions.first?.treeMethod ?? .upperBound,
      approved: approved
    )
    for name in names { units[name] = result.reportedUnit(of: name) }
    curve = result.curveForBaseline
  }
}

extension ScenarioMeasurements {
  /// The measurements that a result holds, to be judged again.
  package init(of result: ScenarioResult) {
    self.init(
      name: result.name,
      environment: result.environment,
      gate: result.gate,
      repetitions: result.repetitions,
      composition: result.currentComposition,
      compositionAtPeak: result.compositionAtPeak,
      growthIsPerIteration: result.growthIsPerIteration,
      plan: result.plan,
      failure: result.failure,
      wasKilled: result.failure != nil && result.verdict == .inconclusive
    )
  }

  /// A baseline's values as measurements, judged by the standard gate.
  package init(of baseline: Baseline) {
    let count = baseline.metrics.values.map(\.count).max() ?? 0
    let repetitions = (0..<count).map { index in
      var repetition = RepetitionResult(
        end: End(.exited, code: 0),
        duration: .zero,
        processes: 0,
        metrics: baseline.metrics.compactMapValues { index < $0.count ? $0[index] : nil },
        treeMethod: baseline.treeMethod
      )
      repetition.units = baseline.units.filter { repetition.metrics[$0.key] != nil }
      return repetition
    }
    self.init(
      name: baseline.scenario,
      environment: EnvironmentInfo(name: baseline.environment, fingerprint: baseline.fingerprint),
      gate: .standard,
      repetitions: repetitions,
      composition: baseline.composition
    )
  }
}
