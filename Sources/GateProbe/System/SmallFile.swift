import GateCore
import Glibc
import LinuxSystem

/// Small files under `/proc` and `/sys`.
enum SmallFile {
  /// The first bytes of a file; nil if it cannot be read.
  static func bytes(at path: String, atMost limit: Int = 65_536) -> [UInt8]? {
    try? Descriptor.open(path, O_RDONLY).read(atMost: limit)
  }

  static func text(at path: String, atMost limit: Int = 65_536) -> String? {
    bytes(at: path, atMost: limit).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Writes a short text to an existing file.
  static func write(_ text: String, to path: String) throws(SystemFailure) {
    let file = try Descriptor.file(path, O_WRONLY)
    guard case .failed(let code) = file.write(text.utf8) else { return }
    throw SystemFailure(.write, path: path, code: code)
  }
}

/// Folders under `/proc` and `/sys`.
enum SmallFolder {
  /// The entries of a folder; empty if it cannot be read.
  static func entries(of path: String) -> [(name: String, isFolder: Bool)] {
    (try? Descriptor.open(path, O_RDONLY | O_DIRECTORY).entries()) ?? []
  }
}
