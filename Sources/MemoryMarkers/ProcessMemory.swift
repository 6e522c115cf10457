import Glibc

/// Small files of the kernel, read at once.
enum SmallFile {
  /// The kernel's files that are read here are shorter by far; os-release(5) and mountinfo of large machines, too.
  private static let most = 256 * 1024

  /// The bytes of a file; nil where it cannot be read.
  ///
  /// `errno` is left alone.
  static func bytes(at path: String) -> [UInt8]? {
    let code = errno
    defer { errno = code }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while bytes.count < most {
        let count = read(file, buffer.baseAddress, buffer.count)
        guard count > 0 else { return count == 0 ? bytes : nil }
        bytes.append(contentsOf: buffer[..<count])
      }
      return bytes
    }
  }

  static func text(at path: String) -> String? {
    bytes(at: path).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The lines of a file, each split into words.
  static func words(at path: String) -> [[Substring]] {
    (text(at: path) ?? "").split(separator: "\n").map { $0.split { $0 == " " || $0 == "\t" } }
  }
}

/// The memory of this process.
enum ProcessMemory {
  /// What it holds in RAM now, in bytes (proc_pid_statm(5), second field); 0 where `/proc` cannot be read.
  ///
  /// Opened each time, since a descriptor that is kept would show the parent's memory to a forked child.
  static func resident() -> UInt64 {
    let pages = SmallFile.words(at: "/proc/self/statm").first?.dropFirst().first.flatMap { UInt64($0) }
    return (pages ?? 0) * UInt64(max(0, sysconf(CInt(_SC_PAGESIZE))))
  }
}
