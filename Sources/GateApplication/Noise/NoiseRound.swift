import FoundationEssentials
import GateCore

/// Runs scenarios alternately with their own and with other settings.
struct NoiseRound {
  /// The repetitions of each scenario with its own settings.
  let count: Int
  let triesVariants: Bool
  /// How many scenarios a check of the project measures at the same time.
  let jobs: Int
  let rule: EnvironmentRule
  let measurer: any Measurer
  let artifacts: ArtifactsFolder
  let showProgress: @Sendable (Progress) -> Void
  /// The first recording that could not be written.
  private(set) var writeFailure: FileError?

  /// A scenario with its own settings, or with one setting changed; all candidates alternate.
  private struct Candidate {
    /// nil for the scenario's own settings.
    let change: SettingChange?
    var run: ScenarioRun
    /// Copies that run at the same time, and only disturb it.
    var neighbours: [ScenarioRun] = []
    let count: Int

    /// Runs further repetitions until there are this many; false after an interruption.
    mutating func runs(to number: Int) -> Bool {
      let runs = SideBySide.map([run] + neighbours, on: 1 + neighbours.count) { [count] start -> ScenarioRun? in
        var run = start
        return run.run(to: number, of: count) ? run : nil
      }
      guard let runs else { return false }
      (run, neighbours) = (runs[0], Array(runs[1...]))
      return true
    }
  }

  /// Studies the scenarios one after the other; nil after an interruption.
  mutating func studies(of scenarios: [Scenario]) throws(FileError) -> [NoiseStudy]? {
    var studies: [NoiseStudy] = []
    for (index, scenario) in scenarios.enumerated() {
      showProgress(.scenarioStarted(scenario.name, index: index + 1, of: scenarios.count))
      guard let study = try study(of: scenario) else { return nil }
      studies.append(study)
    }
    return studies
  }

  /// Runs all repetitions of a scenario and its variants.
  ///
  /// They are interleaved in rounds, so that other activity on the machine affects all alike, and each round begins
  /// with another one, so that none always has the warmest caches. A scenario that fails with its own settings is not
  /// studied.
  private mutating func study(of scenario: Scenario) throws(FileError) -> NoiseStudy? {
    var candidates = try candidates(for: scenario)
    for round in 1...count {
      for turn in candidates.indices where candidates[0].run.failure == nil {
        let index = (turn + round) % candidates.count
        guard candidates[index].runs(to: round * candidates[index].count / count) else { return nil }
      }
    }
    writeFailure = writeFailure ?? candidates.lazy.compactMap(\.run.writeFailure).first
    let variants = candidates.compactMap { one in one.change.map { ($0, one.run.measurement) } }
    return NoiseStudy(of: candidates[0].run.measurement, warmup: scenario.warmup, variants: variants)
  }

  /// The scenario's own settings, then the changes that have an effect on this machine.
  private func candidates(for scenario: Scenario) throws(FileError) -> [Candidate] {
    let usual = run(of: scenario, into: artifacts.noise, named: scenario.name)
    let fingerprint = usual.environment.fingerprint
    var candidates = [Candidate(change: nil, run: usual, count: count)]
    let changes = SettingChange.candidates(
      for: scenario.isolation, in: fingerprint, usableCPUs: measurer.usableCPUs,
      jobs: scenario.isExclusive ? 1 : jobs)
    for change in triesVariants ? changes : [] {
      var changed = scenario
      changed.isolation = change.applied(to: scenario.isolation)
      // The name for progress lines.
      changed.name = ScenarioName("\(scenario.name), \(change.text)")
      let folder = artifacts.noise(with: change)
      var candidate = Candidate(
        change: change, run: run(of: changed, into: folder, named: scenario.name), count: max(Noise.fewest, count / 2))
      if case .jobs(let jobs) = change {
        candidate.neighbours = (2...jobs).map { number in
          run(of: changed, into: ArtifactsFolder(path: "\(folder.path)/\(number)"), named: scenario.name)
        }
      } else if candidate.run.environment.fingerprint == fingerprint {
        continue
      }
      candidates.append(candidate)
    }
    for run in candidates.flatMap({ [$0.run] + $0.neighbours }) { try run.artifacts.prepareFolders(for: scenario.name) }
    return candidates
  }

  private func run(of scenario: Scenario, into folder: ArtifactsFolder, named name: ScenarioName) -> ScenarioRun {
    let environment = rule.environment(of: scenario, on: measurer)
    var run = ScenarioRun(scenario, in: environment, by: measurer, into: folder, showProgress: showProgress)
    run.folderName = name
    return run
  }
}

extension ArtifactsFolder {
  /// The folder for recordings and outputs of `noise`, apart from those of the last check.
  var noise: ArtifactsFolder { ArtifactsFolder(path: "\(path)/noise") }

  /// The folder for a changed setting, as in `noise/aslr=on`.
  func noise(with change: SettingChange) -> ArtifactsFolder {
    let (key, value) = change.setting
    return ArtifactsFolder(path: "\(noise.path)/\(key)=\(value)")
  }
}
