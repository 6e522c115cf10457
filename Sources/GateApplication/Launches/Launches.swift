import GateCore

/// Prints the launch records of programs' latest runs.
struct Launches {
  /// Paths of records; not empty.
  var files: [String]

  /// Prints each record; an unreadable one is reported, and the others are still printed.
  ///
  /// - Parameter invocation: The context of the command.
  /// - Returns: `usage` if a record could not be read.
  func run(in invocation: Invocation) -> ExitCode {
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
