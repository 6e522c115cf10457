package import GateCore
import GateReports

/// Checks the project file and lists what it describes; runs nothing.
package struct Validate {
  package var options = SharedOptions()

  package init() {}

  /// Reads the project file with all that it includes.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let project = try options.loadProject(in: invocation, webhooksNeeded: true)
    if invocation.console.volume != .quiet {
      invocation.console.print(ListingReport.text(project, style: invocation.console.style()))
    }
    return .pass
  }
}
