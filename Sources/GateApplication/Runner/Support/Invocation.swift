package import FoundationEssentials
package import GateCore
import GateProbe
import Glibc
package import LinuxSystem

/// The context of a command: working directory, environment variables, console, clock and measurer.
package struct Invocation: Sendable {
  package var workingDirectory: String
  /// The environment variables of this process.
  package var variables: [String: String]
  package var console: Console
  package var interruption: Interruption
  var measurer: any Measurer
  var now: @Sendable () -> Date

  /// The default measurer runs the scenarios on this machine.
  package init(
    workingDirectory: String,
    variables: [String: String],
    console: Console,
    interruption: Interruption = Interruption(),
    measurer: (any Measurer)? = nil,
    now: @escaping @Sendable () -> Date = { Date().inFileYears }
  ) {
    self.workingDirectory = workingDirectory
    self.variables = variables
    self.console = console
    self.interruption = interruption
    self.measurer = measurer ?? Probe(interruption: interruption, environment: variables)
    self.now = now
  }

  /// Checks that targets can be measured on this machine; returns the path of the run's temporary folder.
  @discardableResult
  func prepareMeasuring() throws(RunnerError) -> String {
    do throws(MachineRestriction) {
      return try measurer.prepare()
    } catch {
      throw RunnerError([error.diagnostic])
    }
  }

  /// An absolute path, resolved against the working directory.
  func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(workingDirectory)/\(path)"
  }

  /// The path of a project's file below the repository's root, as CI systems show it.
  func repositoryPath(of file: String, in project: Project) -> String {
    project.repositoryPath(of: file, from: workingDirectory)
  }

  /// The path as a user would type it here: relative if it is below the working directory.
  func shown(_ path: String) -> String {
    path.hasPrefix("\(workingDirectory)/") ? String(path.dropFirst(workingDirectory.count + 1)) : path
  }

  /// What the CI system of this job tells.
  var ci: CIVariables { CIVariables(variables) }

  /// Whether a signal requested the end of the run.
  var isInterrupted: Bool { interruption.signal != nil }

  /// The exit code of a run that was ended by a signal, if any.
  package var interruptedCode: ExitCode? {
    interruption.signal.map { $0 == SIGINT ? .interrupted : .terminated }
  }

  /// Reports that a signal ended the run, and returns its exit code.
  func interruptedExit(
    _ effect: String = "targets were stopped; baselines and the last result are unchanged"
  ) -> ExitCode {
    console.say("interrupted: \(effect)")
    return interruptedCode ?? .interrupted
  }
}

extension RunInfo {
  /// A run that starts now, of the build given by the variables or by the checkout in `folder`.
  init(startingAt date: Date, in folder: String, _ invocation: Invocation) {
    let build = BuildContext(variables: invocation.variables, root: folder)
    self.init(startedAt: date)
    commit = build.commit
    isDirty = build.isDirty
    subject = build.subject
    branch = build.branch
    (buildURL, pullRequest, shard) = (build.buildURL, build.pullRequest, build.shard)
  }

  /// A run of an unknown build.
  init(startedAt date: Date) {
    var random = SystemRandomNumberGenerator()
    self.init(id: RunIdentifier.make(at: date, random: &random), startedAt: date)
  }
}
