import GateCore

/// Validates the project file and the approved baselines, and lists its content; runs nothing.
struct Validate {
  var options = SharedOptions()
  /// Prints the schema of project files instead, for editors.
  var printsSchema = false

  /// Reads the project file, the files that it includes, and the baselines of all environments.
  func run(in invocation: Invocation) throws -> ExitCode {
    if printsSchema {
      invocation.console.print(ProjectSchema.text)
      return .pass
    }
    let project = try options.loadProject(in: invocation, webhooksNeeded: false)
    for note in project.webhooks.compactMap(\.omissionNote) { invocation.console.note(note) }
    let (store, names) = (BaselineStore(folder: project.baselines), project.scenarios.map(\.name))
    let errors = store.errors(in: names)
    guard errors.isEmpty else { throw RunnerError(errors.flatMap { diagnostics($0, invocation) }) }
    let stale = store.folders(except: names).map(invocation.shown)
    if !stale.isEmpty { invocation.console.note(ListingReport.text(onStaleBaselines: stale)) }
    for unused in unusedEnvironments(of: project, store, invocation) {
      invocation.console.note(ListingReport.text(on: unused, in: invocation.shown(project.baselines)))
    }
    if invocation.console.volume != .quiet {
      invocation.console.print(ListingReport.text(project, style: invocation.console.style()))
    }
    return .pass
  }

  /// Environments that no check has used for long, if there is a history file that says so.
  ///
  /// A database is not asked: nothing here depends on a server.
  private func unusedEnvironments(
    of project: Project, _ store: BaselineStore, _ invocation: Invocation
  ) -> [EnvironmentUses.Unused] {
    guard case .file(let path)? = project.history, let history = try? History.openToRead(path) else { return [] }
    var uses = EnvironmentUses()
    guard (try? history.forEachRun({ uses.add($0) })) != nil else { return [] }
    let baselines = project.scenarios.flatMap { scenario in
      store.environments(of: scenario.name).compactMap { (try? store.load(scenario.name, environment: $0)) ?? nil }
    }
    return uses.unused(of: baselines, at: invocation.now())
  }

  private func diagnostics(_ error: FileError, _ invocation: Invocation) -> [Diagnostic] {
    guard let defect = error.defect else { return error.diagnostics }
    return [BaselineDefectText.diagnostic(defect, at: invocation.shown(error.path))]
  }
}
