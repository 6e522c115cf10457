#if LoopHunter

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The memory of this process.
enum ProcessMemory {
  private static let pageSize = UInt64(max(0, sysconf(CInt(_SC_PAGESIZE))))

  /// Resident memory in bytes (proc_pid_statm(5), second field); 0 if `/proc` cannot be read.
  ///
  /// The file is opened each time, because in a forked child an open descriptor would show the parent's memory.
  static func resident() -> UInt64 {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    // Seven numbers of at most 20 digits, and a NUL byte.
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { line in
      let count = read(file, line.baseAddress, line.count - 1)
      guard count > 0, let start = line.baseAddress else { return 0 }
      line[count] = 0
      var rest: UnsafeMutablePointer<CChar>? = start
      strtoull(start, &rest, 10)
      return strtoull(rest ?? start, nil, 10) &* pageSize
    }
  }
}

#endif
