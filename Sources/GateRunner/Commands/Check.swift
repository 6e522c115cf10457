import FoundationEssentials
package import GateCore
import GateFiles

/// The gate: runs scenarios, judges them against their baselines, reports and notifies.
package struct Check {
  package var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty for all.
  package var selection: [String] = []
  /// Overrides the scenarios' repetitions.
  package var repetitions: Int?
  /// Another build of the target to compare with, instead of the baselines.
  package var against: String?
  package var notifies = true
  /// Whether an undelivered message has its own exit code.
  package var requiresDelivery = false
  package var allowsMissingBaseline = false

  package init() {}

  /// Runs the gate.
  ///
  /// - Returns: the exit code of the verdict (README, exit codes).
  /// - Throws: `DiagnosticError` for bad input; the fate of a target is a verdict, not an error.
  package func run(in invocation: Invocation) throws -> ExitCode {
    try invocation.prepareMeasuring()
    let project = try loadProject(invocation)
    let scenarios = try Selection(words: selection).scenarios(of: project)
    // The reports may be in this folder.
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare()
    try options.prepareReports(in: invocation)
    let lock = try artifacts.lock()
    defer { withExtendedLifetime(lock) {} }
    let plans = try plans(for: scenarios, of: project, invocation)
    var checkRun = CheckRun(
      judging: ScenarioCheck(repetitions: repetitions, allowsMissingBaseline: allowsMissingBaseline),
      measurer: invocation.measurer, artifacts: artifacts, root: project.root, against: against,
      showProgress: invocation.console.show)
    try checkRun.prepareFolders(for: plans)

    let begin = ContinuousClock.now
    var run = RunInfo(startingAt: invocation.now(), in: project.root, invocation)
    run.notes = [RunNote(onChangeTestedBy: invocation, of: project)].compactMap(\.self)
    let measured = checkRun.results(of: plans)
    invocation.console.endProgress()
    guard let results = measured, !invocation.isInterrupted else {
      return invocation.interruptedExit()
    }
    run.duration = ContinuousClock.now - begin
    // A result of several environments has the name of the plainest one, without isolation.
    let environment = plans.map(\.environment).min { $0.name.count < $1.name.count } ?? plans[0].environment
    var report = CheckReport(
      result: RunResult(run: run, environment: environment, scenarios: results),
      project: project,
      artifacts: artifacts,
      comparisons: checkRun.comparisons,
      options: options,
      isComparison: against != nil,
      requiresDelivery: requiresDelivery,
      invocation: invocation
    )
    return report.finish(after: checkRun.writeFailures)
  }

  private func loadProject(_ invocation: Invocation) throws -> Project {
    // On a developer's machine the secrets of CI are missing.
    let areSecretsNeeded = invocation.ci.isInCI || requiresDelivery
    var project = try options.loadProject(in: invocation, webhooksNeeded: notifies && areSecretsNeeded)
    if !notifies { project.webhooks = [] }
    return project
  }

  private func plans(for scenarios: [Scenario], of project: Project, _ invocation: Invocation) throws -> [CheckPlan] {
    guard let against else {
      return try CheckPlan.plans(for: scenarios, of: project, measuredBy: invocation.measurer)
    }
    return try CheckPlan.plans(
      for: scenarios, of: project, against: try ComparisonBuild(parsing: against), from: invocation.workingDirectory,
      measuredBy: invocation.measurer
    )
  }
}
