import GateCore

extension LaunchError {
  /// Describes a call that failed at a stage of the request's start.
  init(_ stage: Stage, code: Int32, request: LaunchRequest) {
    self.init(
      stage, .system(code: code), program: request.program, folder: request.workingDirectory,
      cpus: request.isolation.cpus ?? [], hint: Self.hint(stage, code: code, request: request)
    )
  }

  private static func hint(_ stage: Stage, code: Int32, request: LaunchRequest) -> Hint? {
    switch (stage, code) {
    case (.execution, LinuxCalls.Code.notExecutableFormat): .unknownFormat
    case (.execution, LinuxCalls.Code.noSuchFile): isThere(request) ? .missingInterpreter : nil
    case (.execution, LinuxCalls.Code.accessDenied): .noPermission
    case (.execution, LinuxCalls.Code.tooBig): .tooLong
    case (.trace, _): .tracerOff
    case (.cpuCount, _): .noCPUCount
    case (_, LinuxCalls.Code.inputOutput), (_, LinuxCalls.Code.outOfMemory), (.cgroup, _):
      request.containment?.limit.map { .memoryLimit(limit: $0) }
    case (.cpus, _): .usableCPUs(cpus: LinuxCalls.usableCPUs())
    default: nil
    }
  }

  /// `ENOENT` may refer to the program, or to the interpreter of its `#!` line or the dynamic loader.
  private static func isThere(_ request: LaunchRequest) -> Bool {
    let path = request.program.hasPrefix("/") ? request.program : "\(request.workingDirectory)/\(request.program)"
    return LinuxCalls.executability(of: path) != LinuxCalls.Code.noSuchFile
  }
}
