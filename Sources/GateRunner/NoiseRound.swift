import GateCore
import GateFiles

/// Runs scenarios as they are and with other settings, in turn.
struct NoiseRound {
  /// How often each scenario is run as it is.
  let count: Int
  let triesVariants: Bool
  let rule: EnvironmentRule
  let probe: any Measurer
  let artifacts: ArtifactsFolder
  let show: (Progress) -> Void
  /// The first recording that could not be written.
  private(set) var unwritten: FileError?

  init(
    count: Int,
    triesVariants: Bool,
    rule: EnvironmentRule,
    probe: any Measurer,
    artifacts: ArtifactsFolder,
    show: @escaping (Progress) -> Void
  ) {
    self.count = count
    self.triesVariants = triesVariants
    self.rule = rule
    self.probe = probe
    self.artifacts = artifacts
    self.show = show
  }

  /// What is run in turn with others.
  private struct Contestant {
    /// nil for the scenario as it is.
    let change: IsolationChange?
    var run: ScenarioRun
    let count: Int
    let folder: ArtifactsFolder
  }

  /// Studies one scenario after the other; nil where an interruption ended the run.
  mutating func studies(of scenarios: [Scenario]) throws(FileError) -> [NoiseStudy]? {
    var studies: [NoiseStudy] = []
    for (index, scenario) in scenarios.enumerated() {
      show(.scenarioStarted(scenario.name, index: index + 1, of: scenarios.count))
      guard let study = try study(of: scenario) else { return nil }
      studies.append(study)
    }
    return studies
  }

  /// Runs all repetitions of a scenario and its variants.
  ///
  /// They are interleaved in rounds, so that what the machine does in the meantime befalls all alike, and each round
  /// begins with another one, so that none always finds the warmest caches. What fails as it is needs no study.
  private mutating func study(of scenario: Scenario) throws(FileError) -> NoiseStudy? {
    var contestants = try contestants(for: scenario)
    for round in 1...count {
      for turn in contestants.indices where contestants[0].run.failure == nil {
        let index = (turn + round) % contestants.count
        guard run(&contestants[index], to: round, for: scenario.name) else { return nil }
      }
    }
    let variants = contestants.compactMap { one in one.change.map { ($0, one.run.measurements) } }
    return NoiseStudy(of: contestants[0].run.measurements, warmup: scenario.warmup, variants: variants)
  }

  /// Runs one as far as it should be in this round; false where an interruption ended it.
  private mutating func run(_ contestant: inout Contestant, to round: Int, for name: ScenarioName) -> Bool {
    let (probe, folder, total) = (probe, contestant.folder, contestant.count)
    return contestant.run.run(to: round * total / count, of: total) { scenario, number in
      probe.measure(scenario, number, into: folder, under: name) { unwritten = unwritten ?? $0 }
    }
  }

  /// The scenario as it is, then the changes that make another environment here.
  private func contestants(for scenario: Scenario) throws(FileError) -> [Contestant] {
    var usual = ScenarioRun(scenario: scenario, environment: rule.info(for: scenario, measuredBy: probe), show: show)
    usual.remarks = probe.remarks(on: scenario)
    let fingerprint = usual.environment.fingerprint
    var contestants = [Contestant(change: nil, run: usual, count: count, folder: artifacts.ofNoise)]
    let changes = IsolationChange.candidates(for: scenario.isolation, in: fingerprint, usableCPUs: probe.usableCPUs)
    for change in triesVariants ? changes : [] {
      var changed = scenario
      changed.isolation = change.applied(to: scenario.isolation)
      // The name is for those who wait.
      changed.name = ScenarioName("\(scenario.name), \(change.text)")
      let run = ScenarioRun(scenario: changed, environment: rule.info(for: changed, measuredBy: probe), show: show)
      guard run.environment.fingerprint != fingerprint else { continue }
      let folder = artifacts.ofNoise(with: change)
      contestants.append(Contestant(change: change, run: run, count: max(Noise.fewest, count / 2), folder: folder))
    }
    for contestant in contestants { try contestant.folder.makeRoom(for: scenario.name) }
    return contestants
  }
}

extension ArtifactsFolder {
  /// Where recordings and outputs of `noise` go, apart from those of the last check, of which the result file tells.
  var ofNoise: ArtifactsFolder { ArtifactsFolder(path: "\(path)/noise") }

  /// Where those with another setting go, as in `noise/aslr=on`.
  func ofNoise(with change: IsolationChange) -> ArtifactsFolder {
    let (key, value) = change.setting
    return ArtifactsFolder(path: "\(ofNoise.path)/\(key)=\(value)")
  }
}
