import Glibc
import LinuxSystem

/// A folder for the files that the program reads by path.
enum Scratch {
  /// Absolute, with a folder `.git`, so that nothing above it belongs to the project; removed at exit.
  static let folder: String = {
    let parent = ProcessInput.environment["TMPDIR"] ?? "/tmp"
    guard let folder = try? makeTemporaryFolder(in: parent, named: "highwater-fuzz-") else {
      preconditionFailure("files can be made in \(parent)")
    }
    mkdir("\(folder)/.git", 0o700)
    atexit { removeFolder(Scratch.folder) }
    return folder
  }()

  static func path(_ name: String) -> String { "\(folder)/\(name)" }

  /// Writes a file, without the guarantees that take time.
  @discardableResult
  static func write(_ bytes: some Collection<UInt8>, to name: String) -> String {
    let path = path(name)
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(file >= 0, "\(path) cannot be written")
    defer { close(file) }
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      precondition(count > 0, "\(path) cannot be written")
      rest = rest.dropFirst(count)
    }
    return path
  }

  static func remove(_ name: String) {
    unlink(path(name))
  }

  static func bytes(of name: String) -> [UInt8] {
    (try? Descriptor.open(path(name), O_RDONLY).read(atMost: 1 << 28)) ?? []
  }
}

extension [UInt8] {
  /// The parts between zero bytes, at least `count`; missing parts are empty.
  func parts(_ count: Int) -> [ArraySlice<UInt8>] {
    let parts = split(separator: 0, maxSplits: count - 1, omittingEmptySubsequences: false)
    return parts + Array<ArraySlice<UInt8>>(repeating: [], count: Swift.max(0, count - parts.count))
  }
}
