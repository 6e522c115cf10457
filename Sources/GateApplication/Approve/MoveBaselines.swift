import FoundationEssentials
import GateCore

/// Brings what was approved on other machines to this one, by measuring here the commit that has it.
///
/// The values of one machine say little about those of another: allocators, CPUs and libraries change each program in its
/// own way. So nothing is converted. The commit has all approved changes, and the new baseline needs none.
struct MoveBaselines {
  /// Forced, it replaces a baseline of the same name, but of another kind of machine.
  var request = ApprovalRequest()
  /// The shell command that builds the commit, instead of the project file's.
  var build: String?

  /// Writes a baseline for each selected scenario that has one, but none for this machine.
  ///
  /// - Returns: `pass`; `failed` if a scenario cannot be approved, and `usage` if it can by `--force`.
  func run(in invocation: Invocation) throws -> ExitCode {
    try request.options.study(request.selection, of: .commits, in: invocation) { try move($0, invocation) }
  }

  private func move(_ studied: StudiedProject, _ invocation: Invocation) throws -> ExitCode {
    let mover = BaselineMover(request, of: studied.project, into: studied.artifacts.comparison, invocation)
    var plans: [BaselineMover.Plan] = []
    var changes: [ApprovalChange] = []
    for scenario in studied.scenarios {
      switch try mover.plan(scenario) {
      case .measure(let plan): plans.append(plan)
      case .leave(let change): changes.append(change)
      }
    }
    // Written baselines are reported even if the next commit cannot be built.
    defer {
      if !changes.isEmpty { invocation.report(changes, in: studied.project.root) }
    }
    for plans in Dictionary(grouping: plans, by: \.commit).values.sorted(by: { $0[0].index < $1[0].index }) {
      let commit = try CommitBuild(plans[0].commit, in: studied.project.root)
      try commit.prepare(with: build ?? plans.map(\.scenario).buildLine, log: studied.artifacts.buildLog, invocation)
      for plan in plans {
        guard !invocation.isInterrupted, let change = try mover.measure(plan, in: commit) else {
          return invocation.interruptedExit(
            "targets were stopped; run the same command for the scenarios that are left")
        }
        changes.append(change)
      }
    }
    let reasons = changes.flatMap(\.skipReasons)
    return reasons.isEmpty ? .pass : reasons.allSatisfy(\.canBeOverridden) ? .usage : .failed
  }
}

/// Measures scenarios at the commits that were approved, and writes their baselines.
private struct BaselineMover {
  /// A scenario that has no baseline for this machine.
  struct Plan {
    let scenario: Scenario
    let index: Int
    let environment: EnvironmentInfo
    /// What is expected in another environment.
    let known: Baseline
    let commit: String
  }

  enum Decision {
    case measure(Plan)
    case leave(ApprovalChange)
  }

  private let request: ApprovalRequest
  private let project: Project
  private let store: BaselineStore
  private let outputs: ArtifactsFolder
  private let person: String
  private let run: RunInfo
  private let invocation: Invocation

  init(_ request: ApprovalRequest, of project: Project, into outputs: ArtifactsFolder, _ invocation: Invocation) {
    (self.request, self.project, self.outputs, self.invocation) = (request, project, outputs, invocation)
    store = BaselineStore(folder: project.baselines)
    person = BuildContext(variables: invocation.variables, root: project.root).person
    run = RunInfo(startedAt: invocation.now())
  }

  func plan(_ scenario: Scenario) throws -> Decision {
    let environment = project.environment.environment(of: scenario, on: invocation.measurer)
    func leave(_ outcome: ApprovalChange.Outcome) -> Decision {
      let path = invocation.shown(store.path(scenario.name, environment.name))
      return .leave(
        ApprovalChange(scenario: scenario.name, environment: environment.name, path: path, outcome: outcome))
    }
    if let own = try store.load(scenario.name, environment: environment.name), own.isComparable(to: environment) {
      return leave(.unchanged(.hasBaseline))
    }
    let all = store.expectations(of: scenario.name)
    guard let first = all.first else { return leave(.unchanged(.nothingApproved)) }
    guard let (known, commit) = lastApproved(all) else {
      return leave(.skipped([.unknownApprovedCommit(environment: first.environment)]))
    }
    let index = project.scenarios.firstIndex { $0.name == scenario.name } ?? 0
    return .measure(
      Plan(scenario: scenario, index: index, environment: environment, known: known, commit: commit))
  }

  /// What was approved last, of what a commit has, and that commit.
  ///
  /// A moved baseline has the approval of the one that it was moved from, and a commit that adds it may be of a program that
  /// has risen since. So of equal approvals the oldest commit counts.
  private func lastApproved(_ all: [Baseline]) -> (known: Baseline, commit: String)? {
    let committed = all.compactMap { baseline in commit(of: baseline).map { (known: baseline, commit: $0) } }
    func date(_ baseline: Baseline) -> Date { baseline.approval?.at ?? .distantPast }
    let last = committed.map { date($0.known) }.max()
    return committed.filter { date($0.known) == last }
      .map { ($0, GitQuery.commits(since: $0.commit, in: project.root) ?? 0) }.max { $0.1 < $1.1 }?.0
  }

  /// The last commit of this branch in which the expectation changed; its program is the one that was approved.
  ///
  /// The commit of an approval may be that of a branch, which lacks what others merged, or which was squashed.
  private func commit(of known: Baseline) -> String? {
    let patterns = store.patterns(of: known.scenario, environment: known.environment)
    return GitQuery.mainCommit(changing: patterns, in: project.root)
  }

  /// The effect on the baseline; nil after an interruption.
  func measure(_ plan: Plan, in commit: CommitBuild) throws -> ApprovalChange? {
    try outputs.prepareFolders(for: plan.scenario.name)
    var scenarioRun = ScenarioRun(
      plan.scenario.moved(to: commit.folder), in: plan.environment, by: invocation.measurer, into: outputs,
      showProgress: invocation.console.show)
    let check = ScenarioCheck(repetitions: nil, allowsMissingBaseline: true)
    let measured = check.result(of: &scenarioRun, against: .missing)
    invocation.console.endProgress()
    guard var result = measured else { return nil }
    result.definition = plan.scenario.definition
    return try approve(result, plan)
  }

  private func approve(_ result: ScenarioResult, _ plan: Plan) throws -> ApprovalChange {
    // It is that of what was approved: nobody judges anything here.
    var approval = plan.known.approval ?? Approval(at: run.startedAt, by: person, commit: nil, reason: nil, run: run.id)
    (approval.commit, approval.isDirty, approval.run) = (plan.commit, false, run.id)
    approval.reason = request.reason ?? approval.reason
    let baseline = Baseline(of: result, approval: approval)
    var change = ApprovalChange(
      scenario: result.name, environment: baseline.environment,
      path: invocation.shown(store.path(result.name, baseline.environment)), outcome: .unchanged(.equalValues),
      before: plan.known.medians.filter { plan.known.unit(of: $0.key) == baseline.unit(of: $0.key) },
      after: baseline.medians)
    (change.countAfter, change.units) = (baseline.repetitionCount, baseline.units)
    change.growthIsPerIteration = result.growthIsPerIteration
    change.omitUnjudgedFigures(of: result.gate)
    let review = ApprovalReview(
      of: result, in: run, for: plan.scenario,
      replacing: try store.load(result.name, environment: baseline.environment),
      head: nil, environment: project.environment)
    let reasons = review.reasonsAgainst
    guard reasons.isEmpty || request.forces && reasons.allSatisfy(\.canBeOverridden) else {
      change.outcome = .skipped(reasons)
      return change
    }
    _ = try store.save(baseline)
    try store.save(nil, of: baseline.scenario, environment: baseline.environment)
    let differences = baseline.fingerprint.differences(fromBaseline: plan.known.fingerprint)
    change.outcome = .moved(from: plan.known.environment, commit: plan.commit, differences: differences)
    change.approval = approval
    return change
  }
}

extension BaselineStore {
  /// What is expected in each environment.
  fileprivate func expectations(of scenario: ScenarioName) -> [Baseline] {
    environments(of: scenario).compactMap { name in (try? load(scenario, environment: name)) ?? nil }
  }
}
