import GateCore

/// The options that several commands share.
struct SharedOptions: Sendable, Equatable {
  var config: String?
  var baselines: String?
  var artifacts: String?
  /// The path or URL of the history; `off` for none.
  var history: String?
  /// A name for this class of machines.
  var environment: String?
  /// The path of an additional result file; `-` is standard output.
  var json: String?
  /// The path of the run page; `-` is standard output.
  var html: String?
  /// Further reports.
  var reports: [ReportFile] = []
  /// Whether the checkout is measured as it is, without the project file's `build`.
  var skipsBuild = false
}

extension SharedOptions {
  /// The options that a suggested command must repeat to refer to the same project.
  var repeated: [String] {
    let pairs = [
      ("--config", config), ("--baselines", baselines), ("--artifacts", artifacts), ("--history", history),
      ("--environment", environment),
    ]
    return pairs.flatMap { name, value in value.map { [name, $0] } ?? [] }
  }

  /// Finds and reads the project file, in which variables are replaced; options take precedence over it.
  func loadProject(in invocation: Invocation, webhooksNeeded: Bool) throws -> Project {
    try loadProject(in: invocation, environment: invocation.variables, webhooksNeeded: webhooksNeeded)
  }

  /// The project of a command that may run with a token on a branch's project file: no variable is replaced.
  func loadProjectWithoutVariables(in invocation: Invocation) throws -> Project {
    try loadProject(in: invocation, environment: nil, webhooksNeeded: false)
  }

  private func loadProject(
    in invocation: Invocation, environment variables: [String: String]?, webhooksNeeded: Bool
  ) throws -> Project {
    let file = try ProjectFile.locate(explicit: config, from: invocation.workingDirectory)
    var project = try ProjectFile.load(file, environment: variables, webhooksNeeded: webhooksNeeded)
    if let baselines { project.baselines = invocation.absolute(baselines) }
    if let artifacts { project.artifacts = invocation.absolute(artifacts) }
    if let history {
      project.history = history == "off" ? nil : try invocation.history(history, ofProject: project.history?.project)
    }
    if let environment { project.environment.name = environment }
    return project
  }
}

extension SharedOptions {
  /// The usual folders in the working directory, where `highwater suite` has its files without a project file; nil with one.
  func suiteProject(in invocation: Invocation) -> Project? {
    guard (try? ProjectFile.locate(explicit: config, from: invocation.workingDirectory)) == nil else { return nil }
    return Project(
      file: invocation.absolute(ProjectFile.firstName), root: invocation.workingDirectory,
      baselines: invocation.absolute(baselines ?? "baselines"), history: nil,
      artifacts: invocation.absolute(artifacts ?? ".highwater"), environment: EnvironmentRule(name: environment))
  }

  /// The project of a command that sends notifications, or that does not.
  func loadProject(in invocation: Invocation, notifying: Bool, requiringDelivery: Bool) throws -> Project {
    // On a developer's machine the secrets of CI are missing.
    let areSecretsNeeded = invocation.ci.isInCI || requiringDelivery
    var project = try loadProject(in: invocation, webhooksNeeded: notifying && areSecretsNeeded)
    if !notifying { project.webhooks = [] }
    return project
  }
}

extension FileWords {
  /// The texts in result files that describe the values.
  static let reports = FileWords(
    reason: ResultText.reason(of:), note: ResultText.note(_:in:), runNote: ResultText.runNote,
    recordingNote: ResultText.recordingNote, failure: ResultText.failure,
    explanation: ResultText.explanation, end: ResultText.end)
}
