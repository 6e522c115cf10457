package import GateCore
import GateFiles
import GateReports

/// Shows what programs with launch records have left of their latest runs.
package struct Launches {
  /// Paths of records; not empty.
  package var files: [String]

  package init(files: [String]) {
    self.files = files
  }

  /// Prints each record; one that cannot be read costs no other.
  ///
  /// - Parameter workplace: Where it runs.
  /// - Returns: `usage` where one could not be read.
  package func run(in workplace: Workplace) -> ExitCode {
    var code = ExitCode.pass
    for file in files {
      do throws(FileError) {
        let summary = try LaunchFile.read(workplace.absolute(file))
        workplace.console.print(LaunchReport.text(summary, of: file, style: workplace.console.style()))
      } catch {
        workplace.console.complain(error)
        code = .usage
      }
    }
    return code
  }
}
