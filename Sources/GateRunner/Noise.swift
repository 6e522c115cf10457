import FoundationEssentials
package import GateCore
import GateFiles
import GateProbe
import GateReports

/// Runs scenarios against themselves, and says how noisy they are and what would make them quieter.
package struct Noise {
  package var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty is all.
  package var selection: [String] = []
  /// How often each scenario is run as it is; ``fewest`` or more.
  package var repetitions = 20
  /// Whether other settings of its isolation are tried, too.
  package var triesVariants = true

  /// Of fewer values no deviation is worth its name.
  package static let fewest = 5

  package init() {}

  /// Runs the scenarios and prints what they tell; baselines, history and the last result stay as they are.
  ///
  /// - Returns: `pass`, or `failed` or `inconclusive` where a scenario did not run or gave no figures.
  /// - Throws: `ExplainedError` for bad input.
  package func run(in workplace: Workplace) throws -> ExitCode {
    let project = try options.loadProject(in: workplace, webhooksNeeded: false)
    let scenarios = try Selection(words: selection).scenarios(of: project)
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare()
    let lock = try artifacts.lock()
    defer { withExtendedLifetime(lock) {} }
    let probe = Probe(interruption: workplace.interruption, environment: workplace.variables)
    let begin = ContinuousClock.now
    var run = RunInfo(
      startingAt: workplace.now(), BuildContext(variables: workplace.variables, root: project.root)
    )
    var studies: [NoiseStudy] = []
    for (index, scenario) in scenarios.enumerated() {
      workplace.console.show(.scenarioStarted(scenario.name, index: index + 1, of: scenarios.count))
      let trial = NoiseTrial(
        scenario: scenario, count: repetitions, rule: project.environment, probe: probe, artifacts: artifacts,
        show: workplace.console.show
      )
      guard let study = try trial.study(tryingVariants: triesVariants), workplace.interruption.signal == nil else {
        workplace.console.say("interrupted: targets are stopped; baselines and the last result are as they were")
        return workplace.interruptedCode ?? .interrupted
      }
      studies.append(study)
    }
    run.duration = ContinuousClock.now - begin
    return try tell(NoiseResult(run: run, studies: studies), artifacts, workplace)
  }

  private func tell(_ result: NoiseResult, _ artifacts: ArtifactsFolder, _ workplace: Workplace) throws -> ExitCode {
    workplace.console.clearProgress()
    var context = SummaryContext(exitCode: result.verdict.exitCode)
    context.detail = workplace.console.detail
    context.options = options.repeated
    for study in result.studies where study.result.failure != nil {
      let output = artifacts.output(of: NoiseTrial.room(for: study.name), repetition: study.repetitions)
      guard FileManager.default.fileExists(atPath: output) else { continue }
      context.outputs[study.name] = workplace.shown(output)
    }
    workplace.console.report(besides: options) { NoiseReport.text(result, style: $0, context: context) }
    try options.write(NoiseFile.encode(result), in: workplace)
    return context.exitCode
  }
}

/// One scenario's repetitions, as it is and with other settings, in turn.
private struct NoiseTrial {
  let scenario: Scenario
  let count: Int
  let rule: EnvironmentRule
  let probe: Probe
  let artifacts: ArtifactsFolder
  let show: (Progress) -> Void

  /// What is run in turn with others.
  private struct Contestant {
    /// nil for the scenario as it is.
    var change: IsolationChange?
    var run: ScenarioRun
    let room: ScenarioName
    let count: Int
  }

  /// Runs all repetitions; nil where an interruption ended them.
  ///
  /// They are interleaved in rounds, so that what the machine does in the meantime befalls all alike, and each round
  /// begins with another one, so that none always finds the warmest caches.
  func study(tryingVariants: Bool) throws(FileError) -> NoiseStudy? {
    var contestants = [try asIs()] + (tryingVariants ? try variants() : [])
    for round in 1...count {
      for turn in contestants.indices {
        let index = (turn + round) % contestants.count
        let (total, room) = (contestants[index].count, contestants[index].room)
        let goesOn = contestants[index].run.run(to: round * total / count, of: total) { scenario, number in
          probe.measure(scenario, output: artifacts.output(of: room, repetition: max(0, number)))
        }
        guard goesOn else { return nil }
        // What fails as it is needs no study.
        if index == 0, contestants[0].run.measurements.failure != nil { return study(of: [contestants[0]]) }
      }
    }
    return study(of: contestants)
  }

  private func study(of contestants: [Contestant]) -> NoiseStudy {
    let variants = contestants.compactMap { one in one.change.map { ($0, one.run.measurements) } }
    return NoiseStudy(of: contestants[0].run.measurements, warmup: scenario.warmup, variants: variants)
  }

  private func asIs() throws(FileError) -> Contestant {
    var run = ScenarioRun(scenario: scenario, environment: rule.info(for: scenario, measuredBy: probe), show: show)
    run.remarks = probe.remarks(on: scenario)
    return try contestant(run, in: Self.room(for: scenario.name), count: count)
  }

  /// The changes that make another environment here.
  private func variants() throws(FileError) -> [Contestant] {
    let usual = probe.fingerprint(for: scenario)
    var contestants: [Contestant] = []
    for change in IsolationChange.candidates(for: scenario.isolation, in: usual, usableCPUs: probe.usableCPUs) {
      var changed = scenario
      changed.isolation = change.applied(to: scenario.isolation)
      guard probe.fingerprint(for: changed) != usual else { continue }
      changed.name = Self.room(for: scenario.name, change)
      let run = ScenarioRun(scenario: changed, environment: rule.info(for: changed, measuredBy: probe), show: show)
      var variant = try contestant(run, in: changed.name, count: max(Noise.fewest, count / 2))
      variant.change = change
      contestants.append(variant)
    }
    return contestants
  }

  private func contestant(_ run: ScenarioRun, in room: ScenarioName, count: Int) throws(FileError) -> Contestant {
    try artifacts.makeRoom(for: room)
    return Contestant(run: run, room: room, count: count)
  }

  /// Where outputs stand: apart from those of the last check, whose result file still tells of them.
  ///
  /// No scenario has such a name: what stands first between the brackets of a matrix's member is an axis and `=`.
  static func room(for scenario: ScenarioName, _ change: IsolationChange? = nil) -> ScenarioName {
    let setting = change.map { ",\($0.setting.key)=\($0.setting.value.filter { $0 != "\"" })" } ?? ""
    return ScenarioName("\(scenario)[noise\(setting)]")
  }
}
