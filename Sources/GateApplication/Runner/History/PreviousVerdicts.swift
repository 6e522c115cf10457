import GateCore

/// The verdicts of earlier checks, to determine what is new.
struct PreviousVerdicts {
  private let verdicts: [ScenarioName: [Verdict]]

  /// The verdicts by scenario, oldest first.
  init(_ verdicts: [ScenarioName: [Verdict]]) {
    self.verdicts = verdicts
  }

  /// Reads the last result; an unreadable one has no verdicts, nor has that of a shard, which belongs to this run.
  init(of artifacts: ArtifactsFolder) {
    let bytes = try? SafeFile.read(artifacts.result, atMost: ResultFile.largest)
    let result = bytes.flatMap { try? ResultFile.decode($0, path: artifacts.result) }
    let whole = result.flatMap { $0.run.isPartial ? nil : $0 }
    verdicts = Dictionary(
      whole?.scenarios.map { ($0.name, [$0.verdict]) } ?? [], uniquingKeysWith: { first, _ in first })
  }

  subscript(name: ScenarioName) -> [Verdict] {
    verdicts[name] ?? []
  }
}
