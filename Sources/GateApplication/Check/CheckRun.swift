import GateCore

/// Measures and judges the scenarios of a check, several at the same time if `jobs` is more than 1.
struct CheckRun {
  let judging: ScenarioCheck
  let invocation: Invocation
  /// For the temporary files of suites.
  let temporary: String
  let artifacts: ArtifactsFolder
  /// The repository's root.
  let root: String
  /// The note on the comparison build; nil without one.
  let comparison: Note?
  /// How many scenarios are measured at the same time.
  let jobs: Int
  /// Whether the artifacts folder outlives the check, as earlier files in it show.
  let keepsProfiles: Bool
  private(set) var explanation: CheckExplanation
  /// The results of the comparison build, if any.
  private(set) var comparisons: [ScenarioResult] = []
  /// Recordings that could not be written, the first of each scenario; they do not affect the verdict.
  private(set) var writeFailures: [FileError] = []
  private var commitCounts: [String: Int?] = [:]

  init(
    judging: ScenarioCheck,
    invocation: Invocation,
    usingFolder temporary: String,
    artifacts: ArtifactsFolder,
    root: String,
    comparison: Note?,
    jobs: Int,
    keepsProfiles: Bool,
    explanation: CheckExplanation
  ) {
    self.judging = judging
    self.invocation = invocation
    self.temporary = temporary
    self.artifacts = artifacts
    self.root = root
    self.comparison = comparison
    self.jobs = jobs
    self.keepsProfiles = keepsProfiles
    self.explanation = explanation
  }

  /// Creates the folders of the plans, and removes files of earlier runs.
  func prepareFolders(for plans: [CheckPlan]) throws(FileError) {
    for plan in plans {
      try artifacts.prepareFolders(for: plan.scenario.name)
      if case .build = plan.comparison { try artifacts.comparison.prepareFolders(for: plan.scenario.name) }
    }
  }

  /// The results in order of the plans; nil if measuring was interrupted.
  ///
  /// Regressions are explained when all scenarios have been measured, one after the other: then it is known which rose
  /// most, and how long that may take.
  ///
  /// - Throws: an error of the files of a suite.
  mutating func results(of plans: [CheckPlan]) throws -> [ScenarioResult]? {
    guard let measured = try measureAll(plans) else { return nil }
    var results: [ScenarioResult] = []
    for measured in measured {
      measured.writeFailure.map { writeFailures.append($0) }
      measured.other.map { comparisons.append($0) }
      var result = measured.own
      let commits = result.approval?.commit.flatMap { commitsSince($0) }
      result.reference?.commitsSinceApproval = commits
      results.append(result)
    }
    explanation.explain(&results, of: plans, keepingProfiles: keepsProfiles)
    writeFailures += explanation.failures
    return results
  }

  // MARK: Measuring

  /// The results of a scenario, with that of the comparison build, if any.
  private struct Measured: Sendable {
    var own: ScenarioResult
    var other: ScenarioResult?
    var writeFailure: FileError?
  }

  /// Scenarios that need the machine alone are measured after the others.
  private func measureAll(_ plans: [CheckPlan]) throws -> [Measured]? {
    func sideBySide(_ indices: [Int], on jobs: Int) -> [Result<Measured, any Error>]? {
      SideBySide.map(indices, on: jobs) { [self] index in
        invocation.console.show(
          .scenarioStarted(plans[index].scenario.name, index: index + 1, of: plans.count, isAlone: jobs == 1))
        return Result { try measureShown(plans[index]) }.flipped()
      }
    }
    func isShared(_ index: Int) -> Bool { jobs == 1 || !plans[index].scenario.isExclusive }
    let (shared, exclusive) = (plans.indices.filter(isShared), plans.indices.filter { !isShared($0) })
    guard let first = sideBySide(shared, on: jobs), let last = sideBySide(exclusive, on: 1) else { return nil }
    return try zip(shared + exclusive, first + last).sorted { $0.0 < $1.0 }.map { try $1.get() }
  }

  private func measureShown(_ plan: CheckPlan) throws -> Measured? {
    let begin = ContinuousClock.now
    guard var measured = try judged(plan) else { return nil }
    if let other = measured.other { measured.own.times += other.times }
    measured.own.times.overhead = max(.zero, ContinuousClock.now - begin - measured.own.times.total)
    invocation.console.show(.scenarioFinished(measured.own))
    return measured
  }

  /// Runs the scenario, and the other build's if that is what it is compared with, and judges it.
  private func judged(_ plan: CheckPlan) throws -> Measured? {
    var own = run(of: plan.scenario, plan, into: artifacts)
    switch plan.comparison {
    case .suite(let reference, let lacking): return try tests(of: plan, against: reference, lacking: lacking)
    case .approved(let reference):
      guard let result = judging.result(of: &own, against: reference) else { return nil }
      return Measured(own: result, writeFailure: own.writeFailure)
    case .build(let scenario):
      var other = run(of: scenario, plan, into: artifacts.comparison)
      other.isComparison = true
      if let comparison { own.notes.append(comparison) }
      guard let results = judging.results(of: &own, against: &other) else { return nil }
      return Measured(own: results.own, other: results.other, writeFailure: own.writeFailure ?? other.writeFailure)
    }
  }

  private func tests(
    of plan: CheckPlan, against reference: SuiteMeasurement.Reference, lacking: Reference
  ) throws -> Measured? {
    let measurement = SuiteMeasurement(
      scenario: plan.scenario, environment: plan.environment, reference: reference,
      output: artifacts.output(of: plan.scenario.name, repetition: 1), invocation: invocation)
    guard let suite = try measurement.result(usingFolder: temporary) else { return nil }
    var result = ScenarioResult(of: suite, lacking: lacking)
    result.tags = plan.scenario.tags
    result.definition = plan.scenario.definition
    if let comparison { result.notes.insert(comparison, at: 0) }
    return Measured(own: result)
  }

  /// Both builds count as measured in one environment, since they differ on purpose.
  private func run(of scenario: Scenario, _ plan: CheckPlan, into folder: ArtifactsFolder) -> ScenarioRun {
    ScenarioRun(
      scenario, in: plan.environment, by: invocation.measurer, into: folder, showProgress: invocation.console.show)
  }

  /// Asks git once for each approved commit.
  private mutating func commitsSince(_ commit: String) -> Int? {
    if let known = commitCounts[commit] { return known }
    let count = GitQuery.commits(since: commit, in: root)
    commitCounts[commit] = .some(count)
    return count
  }
}

extension Result {
  /// nil for a success without a value.
  fileprivate func flipped<Value>() -> Result<Value, Failure>? where Success == Value? {
    switch self {
    case .success(let value): value.map { .success($0) }
    case .failure(let error): .failure(error)
    }
  }
}
