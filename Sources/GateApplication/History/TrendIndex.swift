import GateCore

/// The values that the scenarios' histories refer to, with the IDs of their rows.
struct TrendIndex {
  let source: TrendSource
  /// By name.
  let scenarios: [(id: Int64, name: ScenarioName)]
  /// Indices into the source, by row ID.
  private(set) var runs: [Int64: Int]
  let environments: [Int64: Int]
  let approvals: [Int64: Int]

  init(
    runs: [StoredRun], environments: [(id: Int64, value: EnvironmentInfo)], approvals: [(id: Int64, value: Approval)],
    scenarios: [(id: Int64, name: ScenarioName)]
  ) {
    func indices(_ ids: [Int64]) -> [Int64: Int] { Dictionary(uniqueKeysWithValues: zip(ids, 0...)) }
    source = TrendSource(
      runs: runs.map(\.info), environments: environments.map(\.value), approvals: approvals.map(\.value))
    self.runs = indices(runs.map(\.id))
    self.environments = indices(environments.map(\.id))
    self.approvals = indices(approvals.map(\.id))
    self.scenarios = scenarios
  }

  /// Leaves out all runs but these of the source: their scenarios belong to no series.
  mutating func keep(_ kept: some Sequence<Int>) {
    let kept = Set(kept)
    runs = runs.filter { kept.contains($0.value) }
  }

  /// When the oldest run started that is not left out; the latest time possible if there is none.
  var oldest: Int64 { runs.values.min().map { source.runs[$0].startedAt.inMilliseconds } ?? .max }

  /// One run of a scenario; nil if its run is left out, or its run or environment is unknown.
  func run(of scenario: StoredScenario, tags: [String]) -> ScenarioHistory.Run? {
    guard let index = runs[scenario.run], let environment = environments[scenario.environment] else { return nil }
    var run = ScenarioHistory.Run(index: index, environment: environment, verdict: scenario.verdict)
    run.growthIsPerIteration = scenario.growthIsPerIteration
    run.tags = tags
    run.approval = scenario.approval.flatMap { approvals[$0] }
    run.failedRepetitions = scenario.failedRepetitions
    run.explanation = scenario.explanation
    run.composition = scenario.composition
    return run
  }
}
