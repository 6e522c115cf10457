package import GateCore
import GateReports

/// Validates the project file and lists its content; runs nothing.
package struct Validate {
  package var options = SharedOptions()

  package init() {}

  /// Reads the project file and the files that it includes.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let project = try options.loadProject(in: invocation, webhooksNeeded: false)
    for note in project.webhooks.compactMap(\.omissionNote) { invocation.console.note(note) }
    if invocation.console.volume != .quiet {
      invocation.console.print(ListingReport.text(project, style: invocation.console.style()))
    }
    return .pass
  }
}
