import GateCore
import GateFiles

/// One scenario, where it runs, and what it will be held against.
struct CheckPlan {
  enum Standard {
    /// What the team approved.
    case approved(Reference)
    /// The scenario with another build as its target, measured in the same run.
    case build(Scenario)
  }

  let scenario: Scenario
  let environment: EnvironmentInfo
  let standard: Standard

  /// Finds every baseline before the first target starts, so that a broken file costs no minutes.
  ///
  /// - Throws: the diagnostics about all baselines that cannot be read.
  static func plans(
    for scenarios: [Scenario],
    of project: Project,
    measuredBy probe: any Measurer
  ) throws -> [CheckPlan] {
    let store = BaselineStore(folder: project.baselines)
    return try plans(for: scenarios) { scenario in
      let environment = project.environment.info(for: scenario, measuredBy: probe)
      let reference = try store.reference(for: scenario.name, environment)
      return CheckPlan(scenario: scenario, environment: environment, standard: .approved(reference))
    }
  }

  /// Finds the other build's target of every scenario; baselines are not looked at.
  ///
  /// - Throws: the diagnostics about all scenarios whose target it cannot replace.
  static func plans(
    for scenarios: [Scenario],
    of project: Project,
    against other: ComparisonBuild,
    from folder: String,
    measuredBy probe: any Measurer
  ) throws -> [CheckPlan] {
    try plans(for: scenarios) { scenario in
      let replaced = try other.replacingTarget(of: scenario, from: folder)
      return CheckPlan(
        scenario: scenario,
        environment: project.environment.info(for: scenario, measuredBy: probe),
        standard: .build(replaced)
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

extension EnvironmentRule {
  /// The environment with the name under which the team keeps its baselines.
  func info(for scenario: Scenario, measuredBy probe: any Measurer) -> EnvironmentInfo {
    let fingerprint = probe.fingerprint(for: scenario)
    return EnvironmentInfo(
      name: name ?? fingerprint.derivedName(ignoring: ignoredFields),
      fingerprint: fingerprint,
      ignoredFields: ignoredFields,
      counters: probe.counters
    )
  }
}

extension BaselineStore {
  /// What a scenario in this environment is to be compared with.
  fileprivate func reference(
    for scenario: ScenarioName,
    _ environment: EnvironmentInfo
  ) throws(FileError) -> Reference {
    if let baseline = try load(scenario, environment: environment.name) {
      guard !baseline.isComparable(to: environment) else { return .baseline(baseline) }
      return .other(baseline, environment)
    }
    // A broken baseline of another environment is no reason to stop: nothing would be compared with it.
    let others = environments(of: scenario).compactMap { name in (try? load(scenario, environment: name)) ?? nil }
    func hardDifferences(_ baseline: Baseline) -> Int {
      environment.fingerprint.differences(fromBaseline: baseline.fingerprint).filter(\.field.isHard).count
    }
    guard let nearest = others.min(by: { hardDifferences($0) < hardDifferences($1) }) else { return .missing }
    return .other(nearest, environment)
  }
}

extension Reference {
  /// A baseline that is not compared with, since it is of another environment.
  static func other(_ baseline: Baseline, _ environment: EnvironmentInfo) -> Reference {
    .otherEnvironment(
      name: baseline.environment,
      differences: environment.fingerprint.differences(fromBaseline: baseline.fingerprint)
    )
  }
}
