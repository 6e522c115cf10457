import GateCore
import GateFiles

/// Measures and judges the scenarios of a check, one after the other.
struct CheckRun {
  let judging: ScenarioCheck
  let measurer: any Measurer
  let artifacts: ArtifactsFolder
  /// The repository's root.
  let root: String
  /// The note on the comparison build; nil without one.
  let comparison: Note?
  let showProgress: (Progress) -> Void
  private(set) var explanation: CheckExplanation
  /// The results of the comparison build, if any.
  private(set) var comparisons: [ScenarioResult] = []
  /// Recordings that could not be written, the first of each scenario; they do not affect the verdict.
  private(set) var writeFailures: [FileError] = []
  private var commitCounts: [String: Int?] = [:]

  init(
    judging: ScenarioCheck,
    measurer: any Measurer,
    artifacts: ArtifactsFolder,
    root: String,
    comparison: Note?,
    explanation: CheckExplanation,
    showProgress: @escaping (Progress) -> Void
  ) {
    self.judging = judging
    self.measurer = measurer
    self.artifacts = artifacts
    self.root = root
    self.comparison = comparison
    self.explanation = explanation
    self.showProgress = showProgress
  }

  /// Creates the folders of the plans, and removes files of earlier runs.
  func prepareFolders(for plans: [CheckPlan]) throws(FileError) {
    for plan in plans {
      try artifacts.prepareFolders(for: plan.scenario.name)
      if case .build = plan.comparison { try artifacts.comparison.prepareFolders(for: plan.scenario.name) }
    }
  }

  /// The results in order of the plans; nil after an interruption.
  mutating func results(of plans: [CheckPlan]) -> [ScenarioResult]? {
    var results: [ScenarioResult] = []
    for (index, plan) in plans.enumerated() {
      showProgress(.scenarioStarted(plan.scenario.name, index: index + 1, of: plans.count))
      guard var result = result(of: plan), explain(&result, of: plan) else { return nil }
      let commits = result.approval?.commit.flatMap { commitsSince($0) }
      result.reference?.commitsSinceApproval = commits
      showProgress(.scenarioFinished(result))
      results.append(result)
    }
    return results
  }

  private mutating func result(of plan: CheckPlan) -> ScenarioResult? {
    var own = run(of: plan.scenario, plan, into: artifacts)
    switch plan.comparison {
    case .approved(let reference):
      let result = judging.result(of: &own, against: reference)
      note(own.writeFailure)
      return result
    case .build(let scenario):
      var other = run(of: scenario, plan, into: artifacts.comparison)
      other.isComparison = true
      if let comparison { own.notes.append(comparison) }
      let results = judging.results(of: &own, against: &other)
      note(own.writeFailure ?? other.writeFailure)
      if let results { comparisons.append(results.other) }
      return results?.own
    }
  }

  private mutating func explain(_ result: inout ScenarioResult, of plan: CheckPlan) -> Bool {
    do throws(FileError) {
      return try explanation.explain(&result, of: plan)
    } catch {
      note(error)
      return true
    }
  }

  /// Both builds count as measured in one environment, since they differ on purpose.
  private func run(of scenario: Scenario, _ plan: CheckPlan, into folder: ArtifactsFolder) -> ScenarioRun {
    ScenarioRun(scenario, in: plan.environment, by: measurer, into: folder, showProgress: showProgress)
  }

  private mutating func note(_ failure: FileError?) {
    if let failure { writeFailures.append(failure) }
  }

  /// Asks git once for each approved commit.
  private mutating func commitsSince(_ commit: String) -> Int? {
    if let known = commitCounts[commit] { return known }
    let count = GitQuery.commits(since: commit, in: root)
    commitCounts[commit] = .some(count)
    return count
  }
}
