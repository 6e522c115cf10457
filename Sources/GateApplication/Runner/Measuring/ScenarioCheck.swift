import GateCore

/// Measures a scenario until its verdict is decided, or until more repetitions are not allowed or would not help.
struct ScenarioCheck {
  /// Overrides the repetitions of the project file.
  let repetitions: Int?
  let allowsMissingBaseline: Bool

  /// Compares with the approved baseline; nil after an interruption.
  func result(of run: inout ScenarioRun, against reference: Reference) -> ScenarioResult? {
    let count = count(of: run.scenario)
    let baseline: Baseline? = if case .baseline(let approved) = reference { approved } else { nil }
    let hasBaseline = baseline != nil
    run.requireLimit()
    // A new baseline gets more repetitions: its spread decides what later checks can detect.
    var total = hasBaseline ? count.plan.min : count.countForBaseline
    while run.run(to: total, of: total), run.countInstances() {
      let result = judged(run.measurement, against: reference, plan: hasBaseline ? count.plan : nil)
      let more: Int? =
        baseline.map { count.plan.nextLook(after: result) ?? count.plan.countForApproval(after: result, of: $0) }
        ?? count.countForBaseline(after: result)
      guard let more else { return judgedAtLimit(&run, result) { judged($0, against: reference, plan: result.plan) } }
      total = more
    }
    return nil
  }

  /// Adds the run of the scenario's `limit` to the result of all repetitions; nil after an interruption.
  private func judgedAtLimit(
    _ run: inout ScenarioRun, _ result: ScenarioResult, _ judge: (ScenarioMeasurement) -> ScenarioResult
  ) -> ScenarioResult? {
    guard run.scenario.limit != nil, result.failure == nil else { return result }
    return run.runAtLimit() ? judge(run.measurement) : nil
  }

  /// Runs two builds alternately, so that other activity on the machine affects both alike, and compares one with the
  /// other; nil after an interruption.
  ///
  /// - Returns: the result of `run`, and that of `other`, with which it was compared.
  func results(
    of run: inout ScenarioRun,
    against other: inout ScenarioRun
  ) -> (own: ScenarioResult, other: ScenarioResult)? {
    run.requireLimit()
    let plan = count(of: run.scenario).plan
    var total = plan.min
    while Self.runAlternately(&run, &other, to: total), run.countInstances(), other.countInstances() {
      let base = other.measurement.judged(against: .missing, allowsMissingBaseline: true)
      // If the comparison build failed, its end has to be reported.
      let measured = other.failure == nil ? run.measurement : other.measurement
      let reference = Reference.baseline(Baseline(of: base))
      let result = judged(measured, against: reference, plan: plan)
      guard let more = plan.nextLook(after: result) else {
        return judgedAtLimit(&run, result) { judged($0, against: reference, plan: plan) }.map { ($0, base) }
      }
      total = more
    }
    return nil
  }

  private func count(of scenario: Scenario) -> Repetitions {
    repetitions.map(Repetitions.fixed) ?? scenario.repetitions
  }

  private func judged(
    _ measurement: ScenarioMeasurement, against reference: Reference, plan: RepetitionPlan?
  ) -> ScenarioResult {
    var measurement = measurement
    measurement.plan = plan.flatMap { $0.max > $0.min ? $0 : nil }
    return measurement.judged(against: reference, allowsMissingBaseline: allowsMissingBaseline)
  }

  /// Runs two builds up to this number of repetitions, but none after a failure of either; false after an interruption.
  ///
  /// The order changes each turn, so that neither build always has the warm caches of the other.
  static func runAlternately(_ run: inout ScenarioRun, _ other: inout ScenarioRun, to total: Int) -> Bool {
    for number in 1...total {
      for isOther in number.isMultiple(of: 2) ? [false, true] : [true, false] {
        guard run.failure == nil, other.failure == nil else { return true }
        guard isOther ? other.run(to: number, of: total) : run.run(to: number, of: total) else { return false }
      }
    }
    return true
  }
}
