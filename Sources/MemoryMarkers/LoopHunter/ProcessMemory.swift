#if LoopHunter

import Glibc

/// The memory of this process.
enum ProcessMemory {
  private static let pageSize = UInt64(max(0, sysconf(CInt(_SC_PAGESIZE))))

  /// What it holds in RAM now, in bytes (proc_pid_statm(5), second field); 0 where `/proc` cannot be read.
  ///
  /// Opened each time, since a descriptor that is kept would show the parent's memory to a forked child.
  static func resident() -> UInt64 {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    // Seven numbers of at most 20 digits.
    return withUnsafeTemporaryAllocation(byteCount: 160, alignment: 1) { place in
      let count = read(file, place.baseAddress, place.count)
      return secondNumber(in: place.prefix(max(0, count))) * pageSize
    }
  }

  private static func secondNumber(in line: Slice<UnsafeMutableRawBufferPointer>) -> UInt64 {
    var words = 0
    var number: UInt64 = 0
    for byte in line where words < 2 {
      if byte == 0x20 {
        words += 1
      } else if words == 1 {
        number = number &* 10 &+ UInt64(byte & 0xf)
      }
    }
    return number
  }
}

#endif
