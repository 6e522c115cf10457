import CLinux
import LinuxSystem

/// What the start of this process gives: its arguments, and the program's own file.
enum Arguments {
  /// The arguments without the program's name; `CommandLine` has none where `/proc` is not mounted.
  static var all: [String] {
    (1..<max(1, hw_argument_count())).compactMap { hw_argument($0).map { String(systemText: $0) } }
  }

  /// The commit that the program was built from; nil if the build did not say it.
  static var buildCommit: String? {
    let commit = String(systemText: hw_build_commit())
    return commit.isEmpty ? nil : commit
  }
}
