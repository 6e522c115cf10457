import FoundationEssentials
import GateCore

/// The gate: runs scenarios, judges them against their baselines, reports and notifies.
struct Check {
  var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty for all.
  var selection: [String] = []
  /// Overrides the scenarios' repetitions.
  var repetitions: Int?
  /// Another build of the target to compare with, instead of the baselines.
  var against: ComparisonSource?
  var notifies = true
  /// Whether an undelivered message has its own exit code.
  var requiresDelivery = false
  var allowsMissingBaseline = false
  /// How many scenarios to measure at the same time; nil for what the project file says.
  var jobs: Int?
  /// The part of the selected scenarios to run; nil for all.
  var shard: ShardOption?
  /// The options and the command of `highwater suite`, of which the project's only scenario is made.
  var suite: (options: [String], command: [String])?

  /// Runs the gate.
  ///
  /// - Returns: the exit code of the verdict (README, exit codes).
  /// - Throws: `DiagnosticError` for bad input; the fate of a target is a verdict, not an error.
  func run(in invocation: Invocation) throws -> ExitCode {
    let temporary = try invocation.prepareMeasuring()
    let project = try options.loadProject(
      in: invocation, notifying: notifies && shard == nil, requiringDelivery: requiresDelivery)
    return try run(project, usingFolder: temporary, in: invocation)
  }

  /// Runs the gate of a project, with a folder for temporary files.
  func run(_ project: Project, usingFolder temporary: String, in invocation: Invocation) throws -> ExitCode {
    let selected = try Selection(words: selection).scenarios(of: project)
    let part = try shard?.shard(of: selected, on: invocation.ci)
    try options.refuseNames(of: project.scenarios)
    // The reports may be in this folder.
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare(in: project.root)
    try options.prepareReports(in: invocation)
    return try artifacts.whileLocked {
      if let code = options.build(selected, of: project, into: artifacts, invocation) { return code }
      return try against.whileBuilt(for: selected, of: project, log: artifacts.buildLog, invocation) { build in
        guard !invocation.isInterrupted else { return invocation.interruptedExit() }
        let (plans, run) = try begin(selected, part, of: project, against: build, invocation, usingFolder: temporary)
        return try complete(
          run, measuring: plans, of: project, into: artifacts, comparingWith: build, invocation, usingFolder: temporary)
      }
    }
  }

  /// The plans for a part of the selected scenarios, and the run without their results.
  private func begin(
    _ selected: [Scenario],
    _ part: RunInfo.Shard?,
    of project: Project,
    against build: ComparisonBuild?,
    _ invocation: Invocation,
    usingFolder temporary: String
  ) throws -> (plans: [CheckPlan], run: RunResult) {
    let plans = try plans(for: part?.part(of: selected) ?? selected, of: project, against: build, invocation)
    // A result of several environments has the name of the plainest one; a shard may have no scenario.
    let environment =
      plans.map(\.environment).plainest
      ?? project.environment.environment(of: selected[0], on: invocation.measurer)
    var run = RunInfo(startingAt: invocation.now(), in: project.root, invocation)
    run.notes = RunNote.notes(onChangeTestedBy: invocation, of: project, usingFolder: temporary)
    // A CI system measures commits; here the files may be committed later.
    if !invocation.ci.isInCI {
      run.tree = BuildContext(variables: invocation.variables, root: project.root).treeOfFiles(usingFolder: temporary)
    }
    run.shard = part ?? run.shard
    return (plans, RunResult(run: run, environment: environment, scenarios: []))
  }

  /// Measures and judges the scenarios, reports and notifies.
  private func complete(
    _ result: RunResult,
    measuring plans: [CheckPlan],
    of project: Project,
    into artifacts: ArtifactsFolder,
    comparingWith build: ComparisonBuild?,
    _ invocation: Invocation,
    usingFolder temporary: String
  ) throws -> ExitCode {
    let explanation = CheckExplanation(
      measurer: invocation.measurer, artifacts: artifacts,
      profiles: ApprovedProfiles(baselines: BaselineStore(folder: project.baselines), artifacts: artifacts),
      run: result.run.id, showProgress: invocation.console.show)
    var checkRun = CheckRun(
      judging: ScenarioCheck(repetitions: repetitions, allowsMissingBaseline: allowsMissingBaseline),
      invocation: invocation, usingFolder: temporary, artifacts: artifacts, root: project.root, comparison: build?.note,
      jobs: jobs ?? project.jobs, keepsProfiles: artifacts.hasEarlierRuns, explanation: explanation)
    try checkRun.prepareFolders(for: plans)
    let code = MeasuredCode(in: project.root, isDirty: result.run.isDirty)
    let begin = ContinuousClock.now
    let measured = try checkRun.results(of: plans)
    invocation.console.endProgress()
    guard let results = measured else { return invocation.interruptedExit() }
    var result = result
    result.run.duration = ContinuousClock.now - begin
    result.scenarios = results
    result.run.notes += checkRun.explanation.notes
    let report = CheckReport(
      judged: result,
      code: code,
      project: project,
      artifacts: artifacts,
      comparisons: checkRun.comparisons,
      comparisonCommit: build?.commit,
      explanations: checkRun.explanation.explanations,
      options: options,
      against: against,
      suite: suite,
      requiresDelivery: requiresDelivery,
      invocation: invocation
    )
    let exitCode = report.finish(after: checkRun.writeFailures)
    return invocation.interruptedCode ?? exitCode
  }

  private func plans(
    for scenarios: [Scenario],
    of project: Project,
    against build: ComparisonBuild?,
    _ invocation: Invocation
  ) throws -> [CheckPlan] {
    guard let build else {
      let term = allowsMissingBaseline ? MissingBaselineTerm(project: project, now: invocation.now()) : nil
      return try CheckPlan.plans(for: scenarios, of: project, measuredBy: invocation.measurer, term: term)
    }
    return try CheckPlan.plans(for: scenarios, of: project, against: build, measuredBy: invocation.measurer)
  }
}

/// The part of a check that a job runs.
enum ShardOption: Sendable, Equatable {
  /// What the CI system gives the job.
  case auto
  case part(index: Int, of: Int)

  fileprivate func shard(of scenarios: [Scenario], on ci: CIVariables) throws(RunnerError) -> RunInfo.Shard {
    let names = scenarios.map(\.name)
    switch self {
    case .part(let index, let count): return RunInfo.Shard(index: index, count: count, scenarios: names)
    case .auto:
      guard let known = ci.knownShard else {
        throw RunnerError(
          problem: "--shard auto: no CI variable says which shard this job is",
          hint: "write it, as in `--shard 2/4`, or let the CI system split the job, as with `parallel: 4` on GitLab")
      }
      return RunInfo.Shard(index: known.index, count: known.count, scenarios: names)
    }
  }
}
