import Glibc

/// What the kernel's log tells of kills for want of memory (`/dev/kmsg`, Documentation/ABI/testing/dev-kmsg).
enum KernelLog {
  /// No record is longer, or the reading fails (PRINTK_MESSAGE_MAX, kernel/printk/internal.h).
  private static let recordSize = 8192

  /// The most records that are looked at; a usual log of 256 KiB to 1 MiB holds fewer.
  private static let mostRecords = 20_000

  /// Whose want of memory the process was killed for; nil where the log names it not, or may not be read.
  ///
  /// The log has the machine's pids, so it is asked only where ours are the same: in the first pid namespace, whose
  /// inode is fixed (PROC_PID_INIT_INO, include/linux/proc_ns.h).
  ///
  /// - Parameters:
  ///   - pid: The process.
  ///   - startTime: Its start in clock ticks since boot; what was logged before is of another process.
  ///   - path: The log.
  ///   - own: Our folder in `/proc`.
  /// - Returns: The kind, or nil.
  static func kill(of pid: Int32, since startTime: UInt64, in path: String, own: String) -> OOMKind? {
    var status = stat()
    guard stat("\(own)/ns/pid", &status) == 0, status.st_ino == 0xefff_fffc else { return nil }
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let start = startTime &* 1_000_000 / UInt64(max(1, sysconf(CInt(_SC_CLK_TCK))))
    return withUnsafeTemporaryAllocation(byteCount: recordSize, alignment: 1) { buffer in
      for _ in 0..<mostRecords {
        let count = read(file, buffer.baseAddress, buffer.count)
        // EPIPE: records were overwritten before they were read.
        if count < 0 && (errno == EPIPE || errno == EINTR) { continue }
        guard count > 0 else { return nil }
        if let kind = kill(of: pid, since: start, in: String(decoding: buffer[..<count], as: UTF8.self)) { return kind }
      }
      return nil
    }
  }

  /// Whether a record tells of the kill, as in
  /// `3,2105,11614702880,-;Memory cgroup out of memory: Killed process 645 (python3) …` (mm/oom_kill.c).
  ///
  /// Records that programs wrote themselves are not believed: they have another facility than the kernel's, which is 0.
  static func kill(of pid: Int32, since microseconds: UInt64, in record: String) -> OOMKind? {
    let parts = record.split(separator: ";", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    let head = parts[0].split(separator: ",")
    guard head.count > 2, let priority = Int(head[0]), priority < 8, let time = UInt64(head[2]), time >= microseconds
    else { return nil }
    for (beginning, kind) in [("Memory cgroup out of memory", OOMKind.ownLimit), ("Out of memory", .systemPressure)] {
      guard parts[1].hasPrefix("\(beginning): Killed process \(pid) (") else { continue }
      return kind
    }
    return nil
  }
}
