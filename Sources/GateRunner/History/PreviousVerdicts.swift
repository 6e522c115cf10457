import GateCore
import GateFiles

/// The verdicts of the checks before this one, to find out what is new.
struct PreviousVerdicts {
  private let verdicts: [ScenarioName: [Verdict]]

  /// Takes each scenario's, the oldest first.
  init(_ verdicts: [ScenarioName: [Verdict]]) {
    self.verdicts = verdicts
  }

  /// Reads the last result; one that cannot be read has no verdicts.
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
