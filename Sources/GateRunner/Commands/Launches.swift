package import GateCore
import GateFiles
import GateReports

/// Shows the launch records that programs wrote in their latest runs.
package struct Launches {
  /// Paths of records; not empty.
  package var files: [String]

  package init(files: [String]) {
    self.files = files
  }

  /// Prints each record; one that cannot be read is reported and the others are printed.
  ///
  /// - Parameter invocation: Where it runs.
  /// - Returns: `usage` where one could not be read.
  package func run(in invocation: Invocation) -> ExitCode {
    var code = ExitCode.pass
    for file in files {
      do throws(FileError) {
        let summary = try LaunchFile.read(invocation.absolute(file))
        invocation.console.print(LaunchReport.text(summary, of: file, style: invocation.console.style()))
      } catch {
        invocation.console.printError(error)
        code = .usage
      }
    }
    return code
  }
}
