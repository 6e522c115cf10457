package import FoundationEssentials
package import GateCore
import Glibc
package import LinuxSystem

/// The world in which a use case runs: where it stands, what it was told by its environment, whom it talks to.
package struct Invocation: Sendable {
  package var workingDirectory: String
  /// The environment variables of this process.
  package var variables: [String: String]
  package var console: Console
  package var interruption: Interruption
  package var now: @Sendable () -> Date

  package init(
    workingDirectory: String,
    variables: [String: String],
    console: Console,
    interruption: Interruption = Interruption(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.workingDirectory = workingDirectory
    self.variables = variables
    self.console = console
    self.interruption = interruption
    self.now = now
  }

  /// The path made absolute, from the working directory.
  func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(workingDirectory)/\(path)"
  }

  /// The path as a person would type it here: below the working directory without that folder.
  func shown(_ path: String) -> String {
    path.hasPrefix("\(workingDirectory)/") ? String(path.dropFirst(workingDirectory.count + 1)) : path
  }

  /// Whether a signal asked the run to end.
  var isInterrupted: Bool { interruption.signal != nil }

  /// The exit code of a run that a signal ended; nil where none did.
  package var interruptedCode: ExitCode? {
    interruption.signal.map { $0 == SIGINT ? .interrupted : .terminated }
  }
}
