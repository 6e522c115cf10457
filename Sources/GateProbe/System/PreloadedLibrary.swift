import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem

/// A shared library of ours that is loaded into the programs of a target.
struct PreloadedLibrary {
  private let path: String

  /// Writes the library to a new file.
  init(base64 text: String, to path: String) throws(SystemFailure) {
    self.path = path
    try Self.write(base64: text, to: path)
  }

  /// Creates a folder in which the processes of the target create files, also those that have dropped root.
  static func makeFolder(at path: String) {
    mkdir(path.systemText, 0o700)
    if geteuid() == 0 { chmod(path.systemText, 0o733) }
  }

  static func write(base64 text: String, to path: String) throws(SystemFailure) {
    try write(Array(Data(base64Encoded: text) ?? Data()), to: path)
  }

  /// Writes a new file that is readable by all, since a target may drop root before it executes another program.
  static func write(_ bytes: [UInt8], to path: String) throws(SystemFailure) {
    let file = try Descriptor.file(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
    var left = bytes[...]
    while case .bytes(let count) = file.write(left), count > 0 { left = left.dropFirst(count) }
  }

  /// Adds the variable that loads it, before those that the target preloads itself: it calls their functions.
  func add(to environment: inout [String: String]) {
    let others = environment["LD_PRELOAD"].map { ":\($0)" } ?? ""
    environment["LD_PRELOAD"] = path + others
  }
}
