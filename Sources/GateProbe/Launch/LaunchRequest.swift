import GateCore

/// A program to start, and all that it starts with.
struct LaunchRequest: Sendable {
  /// The program and its arguments.
  ///
  /// A program without a slash is looked for in the `PATH` of `environment`.
  var words: [String]
  var program: String { words.first ?? "" }
  /// All of the program's environment; nothing is added to it.
  var environment: [String: String]
  var workingDirectory: String
  /// The descriptor for standard input, which stays the caller's; nil is `/dev/null`.
  var input: Int32?
  /// The descriptor for standard output and error, which stays the caller's.
  var output: Int32
  var isolation: Isolation
  /// What goes with the runner, should it die before it can remove it.
  var scratch: PrivateFolder?
  /// Whether the program and all that it starts is traced, so that each one's last values are read at its end.
  var isTraced = false
  var containment: Containment?
  /// The descriptor of a file that takes a copy of the program's mappings (`smaps`) at its end, where it is traced.
  var mappings: Int32?

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
