import CLinux
import GateCore
import LinuxSystem

/// What the start of this process gives, and what its limits take.
package enum ThisProcess {
  /// The arguments without the program's name; `CommandLine` has none where `/proc` is not mounted.
  package static var arguments: [String] {
    (1..<max(1, hw_argument_count())).compactMap { hw_argument($0).map { String(systemText: $0) } }
  }

  /// The commit that the program was built from; nil if the build did not say it.
  static var buildCommit: String? {
    let commit = String(systemText: hw_build_commit())
    return commit.isEmpty ? nil : commit
  }

  /// Makes a failed allocation end the process with an error where a limit bounds its memory; call it before any thread is
  /// started.
  ///
  /// Swift ends the process by a signal then, and an allocation may fail anywhere.
  package static func reportExhaustedMemory() {
    let error = RunnerError(
      problem: "out of memory: a limit of this process is too low", hint: "raise it (ulimit -v, ulimit -d)")
    let text = error.diagnostics.map { "\($0)\n" }.joined()
    hw_end_without_memory(text, ExitCode.usage.rawValue)
  }
}
