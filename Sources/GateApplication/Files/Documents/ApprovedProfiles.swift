import GateCore

/// What held the memory of approved builds: with it later builds are compared.
///
/// A profile that `approve` stored beside the baseline wins. Else it is one that a later check took of the approved
/// scenario and keeps in the artifacts folder, as the history is kept.
struct ApprovedProfiles: Sendable {
  private let baselines: BaselineStore
  private let artifacts: ArtifactsFolder

  init(baselines: BaselineStore, artifacts: ArtifactsFolder) {
    (self.baselines, self.artifacts) = (baselines, artifacts)
  }

  /// The profile that fits a baseline; nil if there is none that can be read.
  ///
  /// One of the artifacts folder that git tracks does not count: a commit may have written it.
  func profile(for baseline: Baseline) -> ProfiledBuild? {
    if let stored = baselines.profile(of: baseline.scenario, environment: baseline.environment) { return stored }
    let path = path(for: baseline)
    guard let run = baseline.approval?.run, let kept = try? ProfileFile.read(path), kept.baseline == run else {
      return nil
    }
    return GitQuery.isTracked(path) ? nil : kept
  }

  /// Keeps a profile for a baseline that has none of its own; it fits until the next approval.
  func keep(_ profile: ProfiledBuild, for baseline: Baseline) throws(FileError) {
    var kept = profile
    kept.baseline = baseline.approval?.run
    try SafeFile.write(ProfileFile.encode(kept), to: path(for: baseline))
  }

  private func path(for baseline: Baseline) -> String {
    let environment = FileName.component(for: baseline.environment)
    return "\(artifacts.path)/approved-profiles/\(baseline.scenario.pathComponent)/\(environment).json"
  }
}
