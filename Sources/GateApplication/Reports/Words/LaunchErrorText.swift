import GateCore
import LinuxSystem

extension LaunchError {
  /// As in ``cannot execute `foo`: no such file or directory``.
  var displayText: String {
    if reason == .emptyCommand { return "the command is empty" }
    return "cannot \(task): \(reason.displayText)"
  }

  private var task: String {
    switch stage {
    case .arguments, .search, .execution: "execute `\(program)`"
    case .supervisor: "create a process for `\(program)`"
    case .group: "create a process group for `\(program)`"
    case .directory: "enter the folder `\(folder)`"
    case .input: "connect the standard input of `\(program)`"
    case .output: "connect the standard output of `\(program)`"
    case .addresses: "fix the addresses of `\(program)`"
    case .hugePages: "switch huge pages off for `\(program)`"
    case .cgroup: "create a cgroup for `\(program)`"
    case .trace: "trace `\(program)`"
    case .cpuCount: "show `\(program)` the CPUs that `cpus` sets"
    case .cpus: "run `\(program)` on the CPUs \(cpus.listText)"
    }
  }

  /// A hint, if there is one.
  var hintText: String? {
    switch (reason, hint) {
    case (.notInPath(let path), _): "PATH is `\(path)`"
    case (.notExecutable(let path), _): "`\(path)` is not executable (chmod +x)"
    case (_, .unknownFormat): "it may lack a #! line, or be built for another architecture"
    case (_, .missingInterpreter): "the file exists, but its interpreter (#! line) or dynamic loader does not"
    case (_, .noPermission): "is it executable (chmod +x)?"
    case (_, .tooLong): "arguments and environment are too long together"
    case (_, .tracerOff): "`isolation: {tracer: off}` measures by sampling"
    case (_, .memoryLimit(let limit)): "`memory-limit: \(limit)` may be too little to start a program"
    case (_, .noCPUCount):
      "`cpus` needs Linux 5.14, and seccomp(2) with a listener, which a container's profile may block"
    case (_, .usableCPUs(let cpus)): "Highwater itself may use the CPUs \(cpus.listText)"
    case (_, nil): nil
    }
  }
}

extension LaunchError.Reason {
  fileprivate var displayText: String {
    switch self {
    case .system(let code): ErrorNumber(code).text
    case .emptyCommand: "the command is empty"
    case .invalidVariable(let name): "`\(name)` is not a valid name of a variable"
    case .zeroByte: "an argument or a variable contains a NUL byte"
    case .notInPath: "no such program in PATH"
    case .notExecutable: "permission denied"
    }
  }
}

extension [Int] {
  fileprivate var listText: String { map(String.init).joined(separator: ", ") }
}
