import GateCore

/// The scenarios that a command studies.
struct StudiedProject {
  let project: Project
  let scenarios: [Scenario]
  let artifacts: ArtifactsFolder
}

/// What a command measures.
enum StudiedProgram {
  case checkout
  /// Commits of the repository, each built in a worktree.
  case commits
}

extension SharedOptions {
  /// Builds scenarios in the checkout, unless the user has done so.
  ///
  /// - Returns: The exit code of the command if that failed or was interrupted.
  func build(
    _ scenarios: [Scenario], of project: Project, into artifacts: ArtifactsFolder, _ invocation: Invocation
  ) -> ExitCode? {
    guard !skipsBuild else { return nil }
    return CheckoutBuild(of: scenarios, in: project, log: artifacts.buildLog).failure(self, invocation)
  }

  /// Checks everything that can be checked before a target starts, and with `check` what the command needs besides, then
  /// builds the scenarios and does the work while the artifacts folder is locked.
  ///
  /// With `areStarted`, the command is about targets that it starts (``Selection/programs(of:areStarted:)``).
  func study(
    _ selection: [String],
    of program: StudiedProgram = .checkout,
    areStarted: Bool = false,
    in invocation: Invocation,
    checking check: ([Scenario]) throws -> Void = { _ in },
    _ work: (StudiedProject) throws -> ExitCode
  ) throws -> ExitCode {
    try invocation.prepareMeasuring()
    let project = try loadProject(in: invocation, webhooksNeeded: false)
    let scenarios = try Selection(words: selection).programs(of: project, areStarted: areStarted)
    try check(scenarios)
    try refuseNames(of: project.scenarios)
    try prepareReports(in: invocation)
    let artifacts = ArtifactsFolder(path: project.artifacts)
    try artifacts.prepare(in: project.root)
    return try artifacts.whileLocked {
      if program == .checkout, let code = build(scenarios, of: project, into: artifacts, invocation) { return code }
      return try work(StudiedProject(project: project, scenarios: scenarios, artifacts: artifacts))
    }
  }
}
