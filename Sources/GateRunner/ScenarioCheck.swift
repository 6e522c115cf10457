import GateCore

/// Measures one scenario until its verdict is sure, or until more repetitions are not allowed or would not help.
struct ScenarioCheck {
  /// How often to run where something else than the project file says so.
  let repetitions: Int?
  let allowsMissingBaseline: Bool

  private func count(of scenario: Scenario) -> Repetitions {
    repetitions.map(Repetitions.fixed) ?? scenario.repetitions
  }

  /// Runs against what is approved; nil where an interruption ended the run.
  func result(of run: ScenarioRun, against reference: Reference, by measuring: Measuring) -> ScenarioResult? {
    var run = run
    let count = count(of: run.scenario)
    var plan: RepetitionPlan?
    if case .baseline = reference { plan = count.plan }
    return conclude(plan, first: plan?.min ?? count.countForBaseline) { number in
      guard run.run(to: number, of: number, by: measuring) else { return nil }
      return Measured(measurements: run.measurements, reference: reference)
    }
  }

  /// Runs two builds in turn, so that what the machine does in the meantime befalls both alike, and judges one by the
  /// other; nil where an interruption ended the run.
  ///
  /// - Returns: the result of `run`, and that of `other`, with which it was compared.
  func results(
    of run: ScenarioRun,
    against other: ScenarioRun,
    approved: Baseline.Approval,
    by measuring: (_ scenario: Scenario, _ number: Int, _ isOther: Bool) -> Recording?
  ) -> (own: ScenarioResult, other: ScenarioResult)? {
    var (run, other) = (run, other)
    let plan = count(of: run.scenario).plan
    var otherResult: ScenarioResult?
    let result = conclude(plan, first: plan.min) { total in
      for number in 1...total {
        // Whoever comes first changes from turn to turn, so that neither is always the one that finds warm caches.
        for isOther in number.isMultiple(of: 2) ? [false, true] : [true, false] {
          guard run.failure == nil, other.failure == nil else { break }
          let goesOn =
            isOther
            ? other.run(to: number, of: total) { measuring($0, $1, true) }
            : run.run(to: number, of: total) { measuring($0, $1, false) }
          guard goesOn else { return nil }
        }
      }
      let before = other.measurements.judged(against: .missing, allowsMissingBaseline: true)
      otherResult = before
      // How the build that failed ended is what has to be told.
      let measurements = other.failure == nil ? run.measurements : other.measurements
      return Measured(measurements: measurements, reference: .baseline(Baseline(of: before, approved: approved)))
    }
    guard let result, let otherResult else { return nil }
    return (result, otherResult)
  }

  /// What one look has to judge, and by what.
  private struct Measured {
    let measurements: ScenarioMeasurements
    let reference: Reference
  }

  /// Measures up to one look after the other until nothing more is to be found out.
  private func conclude(
    _ plan: RepetitionPlan?,
    first: Int,
    measuring measure: (_ count: Int) -> Measured?
  ) -> ScenarioResult? {
    var count = first
    while true {
      guard let measured = measure(count) else { return nil }
      var measurements = measured.measurements
      measurements.plan = plan.flatMap { $0.max > $0.min ? $0 : nil }
      let result = measurements.judged(against: measured.reference, allowsMissingBaseline: allowsMissingBaseline)
      guard let next = plan?.nextLook(after: result) else { return result }
      count = next
    }
  }
}
