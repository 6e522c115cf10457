import GateCore
import LinuxSystem

/// A program to start, with its arguments, environment and descriptors.
struct LaunchRequest: Sendable {
  /// The program and its arguments.
  ///
  /// A program without a slash is searched for in the `PATH` of `environment`.
  var words: [String]
  var program: String { words.first ?? "" }
  /// The complete environment of the program.
  var environment: [String: String]
  var workingDirectory: String
  /// The descriptor for standard input, still owned by the caller; nil for `/dev/null`.
  var input: Int32?
  /// The descriptor for standard output and error, still owned by the caller.
  var output: Int32
  var isolation: Isolation
  /// The path of the target's FIFO for marks; nil for programs other than targets.
  var marksPath: String?
  /// The lock of the run's folder, which the supervisor holds as well.
  var lock: Descriptor?
  /// Whether to trace the program and its descendants, to read the last values of each when it exits.
  var isTraced = false
  /// How much memory each program of a traced target is made to hold from its exec on, beside its own.
  var ballast = Bytes.zero
  var containment: Containment?
  /// A cgroup that exists already, for the program to join.
  var joined: Containment?
  /// The descriptor of a file that receives a copy of `smaps` when a traced program exits.
  var mappings: Int32?
  /// Profiles a traced program.
  var profiler: Profiler?

  init(
    words: [String],
    environment: [String: String],
    workingDirectory: String,
    input: Int32? = nil,
    output: Int32,
    isolation: Isolation = Isolation()
  ) {
    self.words = words
    self.environment = environment
    self.workingDirectory = workingDirectory
    self.input = input
    self.output = output
    self.isolation = isolation
  }
}
