import GateCore

/// Searches `PATH` as a shell does, before the fork, since a forked child must not allocate memory.
enum ProgramSearch {
  /// The path to execute.
  ///
  /// A program with a slash is relative to the working directory. An empty entry of `PATH` means the working directory.
  /// Like execvp(3), the search continues after a file that is not executable; the error then names that file.
  static func path(of request: LaunchRequest) throws(LaunchError) -> String {
    let program = request.program
    guard !program.isEmpty else { throw LaunchError(.arguments, .emptyCommand, program: "") }
    guard !program.utf8.contains(UInt8(ascii: "/")) else { return program }
    let search = request.environment["PATH"] ?? TargetEnvironment.standardPath
    var forbidden: String?
    for entry in search.split(separator: ":", omittingEmptySubsequences: false) {
      let candidate = entry.isEmpty ? "./\(program)" : "\(entry)/\(program)"
      let place = candidate.hasPrefix("/") ? candidate : "\(request.workingDirectory)/\(candidate)"
      switch LinuxCalls.executability(of: place) {
      case 0: return candidate
      case LinuxCalls.Code.accessDenied: forbidden = forbidden ?? candidate
      default: continue
      }
    }
    let reason = forbidden.map { LaunchError.Reason.notExecutable(path: $0) } ?? .notInPath(path: search)
    throw LaunchError(.search, reason, program: program)
  }
}
