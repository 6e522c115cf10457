import GateCore

/// The verdicts of earlier checks, to determine what is new.
struct PreviousVerdicts {
  private let verdicts: [ScenarioName: [Verdict]]

  /// The verdicts by scenario, oldest first.
  init(_ verdicts: [ScenarioName: [Verdict]]) {
    self.verdicts = verdicts
  }

  /// Reads the last result; an unreadable one has no verdicts, nor has that of a shard, which belongs to this run, or one
  /// that a commit may have written.
  init(of artifacts: ArtifactsFolder) {
    let result = try? ResultFile.readMeasured(artifacts.result)
    let whole = result.flatMap { $0.run.isPartial ? nil : $0 }
    verdicts = Dictionary(
      whole?.scenarios.map { ($0.name, [$0.verdict]) } ?? [], uniquingKeysWith: { first, _ in first })
  }

  subscript(name: ScenarioName) -> [Verdict] {
    verdicts[name] ?? []
  }
}
