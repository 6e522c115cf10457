import GateCore
import GateFiles

/// The verdicts of earlier checks, to determine what is new.
struct PreviousVerdicts {
  private let verdicts: [ScenarioName: [Verdict]]

  /// The verdicts by scenario, oldest first.
  init(_ verdicts: [ScenarioName: [Verdict]]) {
    self.verdicts = verdicts
  }

  /// Reads the last result; an unreadable one has no verdicts.
  init(of artifacts: ArtifactsFolder) {
    let bytes = try? SafeFile.read(artifacts.result, atMost: ResultFile.largest)
    let result = bytes.flatMap { try? ResultFile.decode($0, path: artifacts.result) }
    verdicts = Dictionary(
      result?.scenarios.map { ($0.name, [$0.verdict]) } ?? [], uniquingKeysWith: { first, _ in first })
  }

  subscript(name: ScenarioName) -> [Verdict] {
    verdicts[name] ?? []
  }
}
