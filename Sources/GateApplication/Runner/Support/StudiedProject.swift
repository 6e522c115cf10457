import GateCore

/// The scenarios that a command studies.
struct StudiedProject {
  let project: Project
  let scenarios: [Scenario]
  let artifacts: ArtifactsFolder
}

extension SharedOptions {
  /// Checks everything that can be checked before a target starts, and with `check` what the command needs besides, then
  /// does the work while the artifacts folder is locked.
  func study(
    _ selection: [String],
    in invocation: Invocation,
    checking check: ([Scenario]) throws -> Void = { _ in },
    _ work: (StudiedProject) throws -> ExitCode
  ) throws -> ExitCode {
    try invocation.prepareMeasuring()
    let project = try loadProject(in: invocation, webhooksNeeded: false)
    let scenarios = try Selection(words: selection).scenarios(of: project)
    try check(scenarios)
    try refuseNames(of: project.scenarios)
    try prepareReports(in: invocation)
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare(in: project.root)
    return try artifacts.whileLocked {
      try work(StudiedProject(project: project, scenarios: scenarios, artifacts: artifacts))
    }
  }
}
