import GateCore
import LinuxSystem

/// Where the files of a suite are, with or without a project file.
struct SuitePlace {
  let root: String
  let artifacts: ArtifactsFolder
  /// The folder of baselines.
  let baselines: String
  let environment: EnvironmentRule
  /// nil without a project file.
  let project: Project?
  /// Whether the project file puts the baselines outside of the repository.
  let hasBaselinesOutside: Bool

  /// The project's places; without a project file, the usual folders in the working directory.
  ///
  /// `load` reads the project file.
  init(
    _ options: SharedOptions, in invocation: Invocation, _ load: (Invocation) throws -> Project
  ) throws {
    let file = try? ProjectFile.locate(explicit: options.config, from: invocation.workingDirectory)
    guard file != nil else {
      root = invocation.workingDirectory
      artifacts = ArtifactsFolder(path: invocation.absolute(options.artifacts ?? ".highwater"))
      baselines = invocation.absolute(options.baselines ?? "baselines")
      (environment, hasBaselinesOutside, project) = (EnvironmentRule(name: options.environment), false, nil)
      return
    }
    let project = try load(invocation)
    (root, baselines, environment) = (project.root, project.baselines, project.environment)
    artifacts = ArtifactsFolder(path: project.artifacts)
    hasBaselinesOutside = options.baselines == nil && project.hasBaselinesOutside
    self.project = project
  }

  /// The folder of the last run of a suite.
  func folder(of suite: ScenarioName) -> String { "\(all)/\(suite.pathComponent)" }

  func result(of suite: ScenarioName) -> String { result(ofFolder: suite.pathComponent) }

  func result(ofFolder name: String) -> String { "\(all)/\(name)/result.json" }

  /// The output of its command.
  func output(of suite: ScenarioName) -> String { "\(folder(of: suite))/output.log" }

  private var all: String { "\(artifacts.path)/suites" }

  /// The suites that have run here, sorted.
  var suites: [String] {
    ((try? Descriptor.folder(all).names()) ?? []).sorted()
  }
}
