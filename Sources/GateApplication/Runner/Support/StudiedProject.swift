import GateCore

/// The scenarios that a command studies, and the artifacts folder, which is locked for the lifetime of this value.
struct StudiedProject: ~Copyable {
  let project: Project
  let scenarios: [Scenario]
  let artifacts: ArtifactsFolder
  private let lock: FileLock

  /// Checks everything that can be checked before a target starts, and with `check` what the command needs besides.
  init(
    _ options: SharedOptions,
    selecting selection: [String],
    in invocation: Invocation,
    _ check: ([Scenario]) throws -> Void = { _ in }
  ) throws {
    try invocation.prepareMeasuring()
    let project = try options.loadProject(in: invocation, webhooksNeeded: false)
    let scenarios = try Selection(words: selection).scenarios(of: project)
    try check(scenarios)
    try options.refuseNames(of: project.scenarios)
    try options.prepareReports(in: invocation)
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare(in: project.root)
    lock = try artifacts.lock()
    (self.project, self.scenarios, self.artifacts) = (project, scenarios, artifacts)
  }
}
