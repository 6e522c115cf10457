/// Why a program could not be started.
package struct LaunchError: Error, Sendable, Hashable, Codable {
  /// What was being done when it failed.
  package enum Stage: String, Sendable, Codable {
    /// The arguments and the environment were checked.
    case arguments
    /// The program was looked for in `PATH`.
    case search
    /// The process that contains the program was made.
    case supervisor
    case group, directory, input, output, addresses, hugePages, cpus, execution, cgroup, trace
  }

  package enum Reason: Sendable, Hashable, Codable {
    /// The `errno` of the call that failed.
    case system(Int32)
    case emptyCommand
    /// A variable's name is empty or has an equals sign in it.
    case invalidVariable(String)
    case zeroByte
    case notInPath(String)
    /// The only file of that name in `PATH` may not be executed.
    case notExecutable(String)
  }

  package enum Hint: Sendable, Hashable, Codable {
    case unknownFormat
    /// The file exists; the interpreter of its `#!` line or its dynamic loader does not.
    case missingInterpreter
    case noPermission
    case tooLong
    case tracerOff
    case usableCPUs([Int])
  }

  package var stage: Stage
  package var reason: Reason
  package var program: String
  package var folder: String
  /// The CPUs that were asked for.
  package var cpus: [Int]
  package var hint: Hint?

  package init(
    _ stage: Stage,
    _ reason: Reason,
    program: String,
    folder: String = "",
    cpus: [Int] = [],
    hint: Hint? = nil
  ) {
    self.stage = stage
    self.reason = reason
    self.program = program
    self.folder = folder
    self.cpus = cpus
    self.hint = hint
  }
}
