import GateCore

/// A program that could not be started.
struct LaunchError: DiagnosticError, Equatable {
  /// What went on when it failed.
  enum Stage: Sendable, Equatable {
    /// The words or the environment cannot be handed to a program.
    case arguments
    /// The program was looked for in `PATH`.
    case search
    /// The process that contains the program was made.
    case shepherd
    case group, directory, input, output, addresses, hugePages, cpus, execution, cgroup, trace
  }

  let stage: Stage
  /// The `errno`.
  let code: Int32
  /// As in ``cannot execute `foo`: no such file or directory``.
  let problem: String
  let hint: String?

  init(_ stage: Stage, code: Int32, problem: String, hint: String? = nil) {
    self.stage = stage
    self.code = code
    self.problem = problem
    self.hint = hint
  }

  var diagnostics: [Diagnostic] {
    [Diagnostic(problem: problem, hint: hint)]
  }
}

extension LaunchError {
  /// Puts the failure of a call into words.
  init(_ stage: Stage, code: Int32, request: LaunchRequest) {
    let program = request.words.first ?? ""
    let folder = request.workingDirectory
    let subject =
      switch stage {
      case .arguments, .search, .execution: "cannot execute `\(program)`"
      case .shepherd: "cannot make a process for `\(program)`"
      case .group: "cannot make a process group for `\(program)`"
      case .directory: "cannot enter the folder `\(folder)`"
      case .input: "cannot connect the standard input of `\(program)`"
      case .output: "cannot connect the standard output of `\(program)`"
      case .addresses: "cannot make the addresses of `\(program)` fixed"
      case .hugePages: "cannot switch huge pages off for `\(program)`"
      case .cgroup: "cannot make a cgroup for `\(program)`"
      case .trace: "cannot trace `\(program)`"
      case .cpus: "cannot run `\(program)` on the CPUs \((request.isolation.cpus ?? []).asList)"
      }
    self.init(
      stage,
      code: code,
      problem: "\(subject): \(LinuxCalls.words(forError: code))",
      hint: Self.hint(stage, code: code, request: request)
    )
  }

  private static func hint(_ stage: Stage, code: Int32, request: LaunchRequest) -> String? {
    switch (stage, code) {
    case (.execution, LinuxCalls.Code.notExecutableFormat): "is there no #! line, or is it made for another machine?"
    case (.execution, LinuxCalls.Code.noSuchFile): missingFileHint(for: request)
    case (.execution, LinuxCalls.Code.accessDenied): "is it a file with the permission to execute (chmod +x)?"
    case (.execution, LinuxCalls.Code.tooBig): "arguments and environment are too long together"
    case (.trace, _): "`isolation: {tracer: off}` measures by sampling"
    case (.cpus, _): "this program may itself use the CPUs \(LinuxCalls.usableCPUs().asList)"
    default: nil
    }
  }

  /// `ENOENT` means the program, or what is needed to run it: the interpreter of its `#!` line or the dynamic loader.
  private static func missingFileHint(for request: LaunchRequest) -> String? {
    let program = request.words.first ?? ""
    let path = program.hasPrefix("/") ? program : "\(request.workingDirectory)/\(program)"
    guard LinuxCalls.executability(of: path) != LinuxCalls.Code.noSuchFile else { return nil }
    return "the file exists: what its #! line names, or its dynamic loader, does not"
  }
}

extension [Int] {
  /// The numbers for a person, as in `0, 1`.
  var asList: String {
    map { "\($0)" }.joined(separator: ", ")
  }
}
