package import GateCore
import GateReports

/// Checks the project file and lists what it describes; runs nothing.
package struct Validate {
  package var options = SharedOptions()

  package init() {}

  /// Reads the project file with all that it includes.
  package func run(in workplace: Workplace) throws -> ExitCode {
    let project = try options.loadProject(in: workplace, webhooksNeeded: true)
    if workplace.console.volume != .quiet {
      workplace.console.print(ListingReport.text(project, style: workplace.console.style()))
    }
    return .pass
  }
}
