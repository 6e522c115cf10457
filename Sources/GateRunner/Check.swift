package import GateCore
import GateFiles
import GateProbe

/// The gate: runs scenarios, judges them against their baselines, reports and notifies.
package struct Check {
  package var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty is all.
  package var selection: [String] = []
  /// Instead of what the scenarios say.
  package var repetitions: Int?
  package var notifies = true
  /// Whether a message that could not be delivered makes an exit code of its own.
  package var requiresDelivery = false
  package var allowsMissingBaseline = false

  package init() {}

  /// Runs the gate and says how it went.
  ///
  /// - Returns: the exit code of the contract.
  /// - Throws: `ExplainedError` for bad input; what becomes of a target is a verdict, not an error.
  package func run(in workplace: Workplace) throws -> ExitCode {
    let project = try loadProject(workplace)
    let scenarios = try Selection(words: selection).scenarios(of: project)
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare()
    let lock = try artifacts.lock()
    defer { withExtendedLifetime(lock) {} }
    let probe = Probe(interruption: workplace.interruption, environment: workplace.variables)
    let plans = try CheckPlan.plans(for: scenarios, of: project, measuredBy: probe)
    for scenario in scenarios { try artifacts.makeRoom(for: scenario.name) }

    var unwritten: [FileError] = []
    let begin = ContinuousClock.now
    var run = RunInfo(
      startingAt: workplace.now(), BuildContext(variables: workplace.variables, root: project.root)
    )
    guard let results = results(of: plans, with: probe, into: artifacts, workplace.console, &unwritten),
      workplace.interruption.signal == nil
    else {
      workplace.console.say("interrupted: targets are stopped; baselines and the last result are as they were")
      return workplace.interruptedCode ?? .interrupted
    }
    run.duration = ContinuousClock.now - begin
    // A result of several environments is named after the one that most machines share: no isolation asked for.
    let environment = plans.map(\.environment).min { $0.name.count < $1.name.count } ?? plans[0].environment
    let conclusion = CheckConclusion(
      result: RunResult(run: run, environment: environment, scenarios: results),
      project: project,
      artifacts: artifacts,
      unwritten: unwritten,
      check: self,
      workplace: workplace
    )
    return conclusion.carryOut()
  }

  private func loadProject(_ workplace: Workplace) throws -> Project {
    var project = try options.loadProject(in: workplace, webhooksNeeded: notifies)
    if !notifies { project.webhooks = [] }
    return project
  }

  /// Measures and judges one scenario after the other; nil where an interruption ended the run.
  ///
  /// A recording that cannot be written costs no verdict; the first such error is kept for the end.
  private func results(
    of plans: [CheckPlan],
    with probe: Probe,
    into artifacts: ArtifactsFolder,
    _ console: Console,
    _ unwritten: inout [FileError]
  ) -> [ScenarioResult]? {
    var results: [ScenarioResult] = []
    for (index, plan) in plans.enumerated() {
      let scenario = plan.scenario
      console.show(.scenarioStarted(scenario.name, index: index + 1, of: plans.count))
      var run = ScenarioRun(scenario: scenario, environment: plan.environment, show: console.show)
      run.remarks = probe.remarks(on: scenario)
      let check = ScenarioCheck(repetitions: repetitions, allowsMissingBaseline: allowsMissingBaseline)
      let result = check.result(of: run, against: plan.reference) { scenario, number in
        measure(scenario, number, with: probe, into: artifacts, &unwritten)
      }
      guard let result else { return nil }
      console.show(.scenarioFinished(result))
      results.append(result)
    }
    return results
  }

  /// Runs one repetition and keeps its recording and output.
  private func measure(
    _ scenario: Scenario,
    _ number: Int,
    with probe: Probe,
    into artifacts: ArtifactsFolder,
    _ unwritten: inout [FileError]
  ) -> Recording? {
    // All warm-ups share the file before the first counted one's: only the last one that ran may have failed.
    let output = artifacts.output(of: scenario.name, repetition: max(0, number))
    let recording = probe.measure(scenario, output: output)
    guard let recording, number >= 1 else { return recording }
    do throws(FileError) {
      try SafeFile.write(
        RecordingFile.encode(recording), to: artifacts.recording(of: scenario.name, repetition: number))
    } catch {
      if unwritten.isEmpty { unwritten.append(error) }
    }
    return recording
  }
}
