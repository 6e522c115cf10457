import CLinux
import LinuxSystem

/// The arguments of this process.
enum Arguments {
  /// The arguments without the program's name; `CommandLine` has none where `/proc` is not mounted.
  static var all: [String] {
    (1..<max(1, hw_argument_count())).compactMap { hw_argument($0).map { String(systemText: $0) } }
  }
}
