package import FoundationEssentials
package import GateCore
import GateProbe

/// The world in which a use case runs: where it stands, what it was told by its environment, whom it talks to.
package struct Invocation: Sendable {
  package var workingDirectory: String
  /// The environment variables of this process.
  package var variables: [String: String]
  package var console: Console
  package var interruption: Interruption
  package var now: @Sendable () -> Date
  /// Runs the targets and measures them.
  package var measurer: any Measurer

  package init(
    workingDirectory: String,
    variables: [String: String],
    console: Console,
    interruption: Interruption = Interruption(),
    now: @escaping @Sendable () -> Date = { Date() },
    measurer: (any Measurer)? = nil
  ) {
    self.workingDirectory = workingDirectory
    self.variables = variables
    self.console = console
    self.interruption = interruption
    self.now = now
    self.measurer = measurer ?? Probe(interruption: interruption, environment: variables)
  }

  /// The path made absolute, from the working directory.
  func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(workingDirectory)/\(path)"
  }

  /// The path as a person would type it here: below the working directory without that folder.
  func shown(_ path: String) -> String {
    path.hasPrefix("\(workingDirectory)/") ? String(path.dropFirst(workingDirectory.count + 1)) : path
  }

  /// The exit code of a run that a signal ended; nil where none did.
  package var interruptedCode: ExitCode? {
    interruption.signal.map { $0 == .int ? .interrupted : .terminated }
  }
}
