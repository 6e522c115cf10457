import Glibc

@testable import MemoryMarkers

/// A memory cgroup for a test, below the cgroup of the test process.
final class LimitedCgroup {
  static let limit = 48 << 20

  let path: String

  /// - Returns: Nil if it cannot be created, or its limit cannot be set.
  init?() {
    let own = MemoryCgroup.folder(of: "/proc/self")
    guard !own.isEmpty else { return nil }
    path = "\(own)/highwater-markers-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    guard mkdir(path, 0o755) == 0 else { return nil }
    let limits = ["memory.limit_in_bytes", "memory.max"].filter { Self.write("\(Self.limit)", to: "\(path)/\($0)") }
    guard !limits.isEmpty else { return nil }
    // Otherwise the kernel would swap first.
    _ = Self.write("0", to: "\(path)/memory.swap.max")
    _ = Self.write("0", to: "\(path)/memory.swappiness")
  }

  deinit {
    // The kernel may report it as busy briefly after its last process was reaped.
    for _ in 0..<400 where rmdir(path) != 0 && errno == EBUSY { usleep(5000) }
  }

  private static func write(_ text: String, to file: String) -> Bool {
    let descriptor = open(file, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return Glibc.write(descriptor, text, text.utf8.count) > 0
  }

  static let isAvailable = LimitedCgroup() != nil
}

extension LimitedCgroup {
  /// A command that starts a program in the cgroup; the program and its arguments are appended.
  var launcher: [String] { ["/bin/sh", "-c", "echo $$ > \(path)/cgroup.procs && exec \"$@\"", "sh"] }
}

/// Whether this process may read the kernel's log, and its pids are those of the log.
let canReadKernelLog: Bool = {
  let log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
  defer { close(log) }
  var status = stat()
  // The inode of the initial pid namespace.
  return log >= 0 && stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == 0xefff_fffc
}()
