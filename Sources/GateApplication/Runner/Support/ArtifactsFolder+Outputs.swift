import GateCore
import LinuxSystem

extension ArtifactsFolder {
  /// The folder for the comparison build's result, recordings and outputs: `highwater compare` judges both results
  /// alike.
  var comparison: ArtifactsFolder { ArtifactsFolder(path: "\(path)/against") }

  /// The folder for the outputs of profiled repetitions.
  var explain: ArtifactsFolder { ArtifactsFolder(path: "\(path)/explain") }

  /// Whether it has files of earlier runs: then it is not the empty folder of a job whose files are lost with it.
  var hasEarlierRuns: Bool {
    [result, "\(path)/history.sqlite"].contains { (try? Descriptor.kind(of: $0, followingLinks: true)) ?? nil != nil }
  }

  /// The page with the flame graphs of the last explanations.
  var explanationPage: String { "\(path)/explain.html" }

  /// The output of the target in the failed repetition, or of the run of a suite, for each scenario with such a file.
  func outputs(ofFailed scenarios: [ScenarioResult]) -> [ScenarioName: String] {
    scenarios.reduce(into: [:]) { outputs, scenario in
      guard let failure = scenario.failure, failure.attempt != nil || scenario.suite != nil else { return }
      let folder = failure.attempt?.isComparison == true ? comparison : self
      let output = folder.output(of: scenario.name, repetition: failure.attempt?.outputNumber ?? 1)
      if (try? Descriptor.kind(of: output, followingLinks: true)) ?? nil != nil { outputs[scenario.name] = output }
    }
  }
}

extension Failure.Attempt {
  /// Warm-ups share one file: only the last one that ran can have failed.
  var outputNumber: Int { isWarmup ? 0 : number }
}
