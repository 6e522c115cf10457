/// Why a program could not be started.
package struct LaunchError: Error, Sendable, Hashable, Codable {
  /// The operation that failed.
  package enum Stage: String, Sendable, Codable {
    /// Validating the arguments and the environment.
    case arguments
    /// Searching the program in `PATH`.
    case search
    /// Creating the supervisor process.
    case supervisor
    case group, directory, input, output, addresses, hugePages, cpus, cpuCount, execution, cgroup, trace
  }

  package enum Reason: Sendable, Hashable, Codable {
    /// The `errno` of the failed call.
    case system(code: Int32)
    case emptyCommand
    /// A variable's name is empty or contains an equals sign.
    case invalidVariable(name: String)
    case zeroByte
    case notInPath(path: String)
    /// The only file of that name in `PATH` is not executable.
    case notExecutable(path: String)
  }

  package enum Hint: Sendable, Hashable, Codable {
    case unknownFormat
    /// The file exists, but the interpreter of its `#!` line or its dynamic loader does not.
    case missingInterpreter
    case noPermission
    case tooLong
    case tracerOff
    case noCPUCount
    case memoryLimit(limit: Bytes)
    case usableCPUs(cpus: [Int])
  }

  package var stage: Stage
  package var reason: Reason
  package var program: String
  package var folder: String
  /// The requested CPUs.
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
