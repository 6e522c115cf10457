package import GateCore
import GateFiles
import GateReports

/// Validates the project file and the approved baselines, and lists its content; runs nothing.
package struct Validate {
  package var options = SharedOptions()

  package init() {}

  /// Reads the project file, the files that it includes, and the baselines of all environments.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let project = try options.loadProject(in: invocation, webhooksNeeded: false)
    for note in project.webhooks.compactMap(\.omissionNote) { invocation.console.note(note) }
    let (store, names) = (BaselineStore(folder: project.baselines), project.scenarios.map(\.name))
    let errors = store.errors(in: names)
    guard errors.isEmpty else { throw RunnerError(errors.flatMap { diagnostics($0, invocation) }) }
    let stale = store.folders(except: names).map(invocation.shown)
    if !stale.isEmpty { invocation.console.note(ListingReport.text(onStaleBaselines: stale)) }
    if invocation.console.volume != .quiet {
      invocation.console.print(ListingReport.text(project, style: invocation.console.style()))
    }
    return .pass
  }

  private func diagnostics(_ error: FileError, _ invocation: Invocation) -> [Diagnostic] {
    guard let defect = error.defect else { return error.diagnostics }
    return [BaselineDefectText.diagnostic(defect, at: invocation.shown(error.path))]
  }
}
