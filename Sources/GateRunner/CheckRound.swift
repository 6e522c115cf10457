import GateCore
import GateFiles

/// Measures and judges the scenarios of one check, one after the other, and keeps what the targets left.
struct CheckRound {
  let check: Check
  let probe: any Measurer
  let artifacts: ArtifactsFolder
  let console: Console
  /// The repository's root.
  let root: String
  /// The results of the other build, where one was measured.
  private(set) var others: [ScenarioResult] = []
  /// What could not be kept; a recording that cannot be written costs no verdict, and the first such error tells enough.
  private(set) var unwritten: [FileError] = []
  private var commitCounts: [String: Int?] = [:]

  init(check: Check, probe: any Measurer, artifacts: ArtifactsFolder, root: String, console: Console) {
    self.check = check
    self.probe = probe
    self.artifacts = artifacts
    self.root = root
    self.console = console
  }

  /// Makes the folders that will be written to, without what an earlier run left there.
  func makeRoom(for plans: [CheckPlan]) throws(FileError) {
    for plan in plans {
      try artifacts.makeRoom(for: plan.scenario.name)
      if case .build = plan.standard { try artifacts.comparison.makeRoom(for: plan.scenario.name) }
    }
  }

  /// The results in the order of the plans; nil where an interruption ended the run.
  mutating func results(of plans: [CheckPlan], in run: RunInfo) -> [ScenarioResult]? {
    var results: [ScenarioResult] = []
    for (index, plan) in plans.enumerated() {
      console.show(.scenarioStarted(plan.scenario.name, index: index + 1, of: plans.count))
      guard var result = result(of: plan, in: run) else { return nil }
      result.tags = plan.scenario.tags
      result.commitsSinceApproval = result.approval?.commit.flatMap { commitsSince($0) }
      console.show(.scenarioFinished(result))
      results.append(result)
    }
    return results
  }

  /// Asks git once for each commit at which something was approved.
  private mutating func commitsSince(_ commit: String) -> Int? {
    if let known = commitCounts[commit] { return known }
    let count = GitQuery.commits(since: commit, in: root)
    commitCounts[commit] = .some(count)
    return count
  }

  private mutating func result(of plan: CheckPlan, in run: RunInfo) -> ScenarioResult? {
    let judging = ScenarioCheck(repetitions: check.repetitions, allowsMissingBaseline: check.allowsMissingBaseline)
    var own = ScenarioRun(scenario: plan.scenario, environment: plan.environment, show: console.show)
    own.remarks = probe.remarks(on: plan.scenario)
    switch plan.standard {
    case .approved(let reference):
      return judging.result(of: own, against: reference) { measure($0, $1, into: artifacts) }
    case .build(let scenario):
      // What differs is on purpose, so both count as measured in one environment.
      var other = ScenarioRun(scenario: scenario, environment: plan.environment, show: console.show)
      other.build = "the other build"
      own.remarks.append("compared with another build, run in turn with this one: \(check.against ?? "")")
      let approval = Baseline.Approval(at: run.startedAt, by: "", commit: nil, reason: nil, run: run.id)
      let results = judging.results(of: own, against: other, approved: approval) { scenario, number, isOther in
        measure(scenario, number, into: isOther ? artifacts.comparison : artifacts)
      }
      if let results { others.append(results.other) }
      return results?.own
    }
  }

  private mutating func measure(_ scenario: Scenario, _ number: Int, into folder: ArtifactsFolder) -> Recording? {
    let probe = probe
    return probe.measure(scenario, number, into: folder, under: scenario.name) { error in
      if unwritten.isEmpty { unwritten.append(error) }
    }
  }
}

extension Measurer {
  /// Runs one repetition and keeps its output and recording under a name; `lose` is told of a recording that could not be
  /// written.
  func measure(
    _ scenario: Scenario,
    _ number: Int,
    into folder: ArtifactsFolder,
    under name: ScenarioName,
    lose: (FileError) -> Void
  ) -> Recording? {
    // All warm-ups share the file before the first counted one's: only the last one that ran may have failed.
    let recording = measure(scenario, output: folder.output(of: name, repetition: max(0, number)))
    guard let recording, number >= 1 else { return recording }
    do throws(FileError) {
      try SafeFile.write(RecordingFile.encode(recording), to: folder.recording(of: name, repetition: number))
    } catch {
      lose(error)
    }
    return recording
  }
}

extension ArtifactsFolder {
  /// Where the other build's result, recordings and outputs go: `highwater compare` judges both results alike.
  var comparison: ArtifactsFolder { ArtifactsFolder(path: "\(path)/against") }
}
