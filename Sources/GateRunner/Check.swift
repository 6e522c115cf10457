package import GateCore
import GateFiles

/// The gate: runs scenarios, judges them against their baselines, reports and notifies.
package struct Check {
  package var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty is all.
  package var selection: [String] = []
  /// Instead of what the scenarios say.
  package var repetitions: Int?
  /// Another build of the target to compare with, instead of the baselines.
  package var against: String?
  package var notifies = true
  /// Whether a message that could not be delivered makes an exit code of its own.
  package var requiresDelivery = false
  package var allowsMissingBaseline = false

  package init() {}

  /// Runs the gate and says how it went.
  ///
  /// - Returns: the exit code of the contract.
  /// - Throws: `DiagnosticError` for bad input; what becomes of a target is a verdict, not an error.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let project = try loadProject(invocation)
    let scenarios = try Selection(words: selection).scenarios(of: project)
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare()
    let lock = try artifacts.lock()
    defer { withExtendedLifetime(lock) {} }
    let probe = invocation.measurer
    let plans = try plans(for: scenarios, of: project, measuredBy: probe, invocation)
    var round = CheckRound(
      check: self, probe: probe, artifacts: artifacts, root: project.root, console: invocation.console)
    try round.makeRoom(for: plans)

    let begin = ContinuousClock.now
    var run = RunInfo(
      startingAt: invocation.now(), BuildContext(variables: invocation.variables, root: project.root)
    )
    guard let results = round.results(of: plans, in: run), invocation.interruption.signal == nil
    else {
      invocation.console.say("interrupted: targets are stopped; baselines and the last result are as they were")
      return invocation.interruptedCode ?? .interrupted
    }
    run.duration = ContinuousClock.now - begin
    // A result of several environments is named after the one that most machines share: no isolation asked for.
    let environment = plans.map(\.environment).min { $0.name.count < $1.name.count } ?? plans[0].environment
    var conclusion = CheckConclusion(
      result: RunResult(run: run, environment: environment, scenarios: results),
      project: project,
      artifacts: artifacts,
      others: round.others,
      unwritten: round.unwritten,
      check: self,
      invocation: invocation
    )
    return conclusion.carryOut()
  }

  private func loadProject(_ invocation: Invocation) throws -> Project {
    var project = try options.loadProject(in: invocation, webhooksNeeded: notifies)
    if !notifies { project.webhooks = [] }
    return project
  }

  private func plans(
    for scenarios: [Scenario],
    of project: Project,
    measuredBy probe: any Measurer,
    _ invocation: Invocation
  ) throws -> [CheckPlan] {
    guard let against else { return try CheckPlan.plans(for: scenarios, of: project, measuredBy: probe) }
    return try CheckPlan.plans(
      for: scenarios, of: project, against: try ComparisonBuild(parsing: against), from: invocation.workingDirectory,
      measuredBy: probe
    )
  }
}
