import GateCore

/// One scenario, its environment, and the reference of the comparison.
struct CheckPlan {
  enum Comparison {
    /// The approved baseline, or the lack of one.
    case approved(Reference)
    /// The scenario with another build as its target, measured in the same run.
    case build(Scenario)
    /// The approved figures of a suite's tests, or another checkout; and what holds if there are none.
    case suite(SuiteMeasurement.Reference, lacking: Reference)
  }

  let scenario: Scenario
  let environment: EnvironmentInfo
  let comparison: Comparison

  /// Loads all baselines before the first target starts, so that a broken file does not waste minutes.
  ///
  /// `term` limits for how long a scenario may have none.
  ///
  /// - Throws: the diagnostics of all baselines that cannot be read.
  static func plans(
    for scenarios: [Scenario],
    of project: Project,
    measuredBy measurer: any Measurer,
    term: MissingBaselineTerm? = nil
  ) throws -> [CheckPlan] {
    let store = BaselineStore(folder: project.baselines)
    return try plans(for: scenarios) { scenario in
      let environment = project.environment.environment(of: scenario, on: measurer)
      if scenario.target.suite != nil {
        let baseline = try SuiteBaselineFile(scenario.name, environment.name, in: project.baselines).read()
        let lacking = baseline == nil ? term?.reference(for: scenario.name) : nil
        return CheckPlan(
          scenario: scenario, environment: environment,
          comparison: .suite(.approved(baseline), lacking: lacking ?? .missing))
      }
      var reference = try store.reference(for: scenario.name, environment)
      if let term, reference == .missing { reference = term.reference(for: scenario.name) }
      return CheckPlan(scenario: scenario, environment: environment, comparison: .approved(reference))
    }
  }

  /// Compares every scenario with itself for another build; baselines are not read.
  ///
  /// - Throws: the diagnostics of all scenarios that the other build cannot run.
  static func plans(
    for scenarios: [Scenario],
    of project: Project,
    against build: ComparisonBuild,
    measuredBy measurer: any Measurer
  ) throws -> [CheckPlan] {
    try plans(for: scenarios) { scenario in
      CheckPlan(
        scenario: scenario,
        environment: project.environment.environment(of: scenario, on: measurer),
        comparison: scenario.target.suite == nil
          ? .build(try build.scenario(scenario))
          : .suite(.checkout(try build.checkout(for: scenario)), lacking: .missing)
      )
    }
  }

  private static func plans(
    for scenarios: [Scenario],
    _ plan: (Scenario) throws -> CheckPlan
  ) throws -> [CheckPlan] {
    var diagnostics: [Diagnostic] = []
    var plans: [CheckPlan] = []
    for scenario in scenarios {
      do {
        plans.append(try plan(scenario))
      } catch let error as any DiagnosticError {
        diagnostics += error.diagnostics
      }
    }
    guard diagnostics.isEmpty else { throw RunnerError(diagnostics) }
    return plans
  }
}

extension BaselineStore {
  /// The reference of a scenario in this environment.
  fileprivate func reference(
    for scenario: ScenarioName,
    _ environment: EnvironmentInfo
  ) throws(FileError) -> Reference {
    do throws(FileError) {
      if let baseline = try load(scenario, environment: environment.name) {
        return baseline.isComparable(to: environment) ? .baseline(baseline) : .other(baseline, environment)
      }
    } catch {
      // Measured all the same, since an approval of the result settles it.
      if let defect = error.defect { return .unusable(defect) }
      throw error
    }
    // A broken baseline of another environment does not matter: it would not be compared.
    let others = environments(of: scenario).compactMap { name in (try? load(scenario, environment: name)) ?? nil }
    func hardDifferences(_ baseline: Baseline) -> Int {
      environment.fingerprint.differences(fromBaseline: baseline.fingerprint).filter(\.isHard).count
    }
    guard let nearest = others.min(by: { hardDifferences($0) < hardDifferences($1) }) else { return .missing }
    return .other(nearest, environment)
  }
}

extension Reference {
  /// A baseline of another environment, whose values are not compared.
  static func other(_ baseline: Baseline, _ environment: EnvironmentInfo) -> Reference {
    .otherEnvironment(
      name: baseline.environment,
      differences: environment.fingerprint.differences(fromBaseline: baseline.fingerprint)
    )
  }
}
