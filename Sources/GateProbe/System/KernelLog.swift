import Glibc
import LinuxSystem

/// The kernel log from the time of opening it (`/dev/kmsg`, `Documentation/ABI/testing/dev-kmsg`).
final class KernelLog {
  private let file: Descriptor
  private var reader = KillReader()

  /// The maximum record size; reads with a smaller buffer fail (`PRINTK_MESSAGE_MAX`, kernel/printk/internal.h).
  private static let recordSize = 8192

  /// The maximum number of records per call of ``kills()``.
  private static let maxRecords = 20_000

  /// Starts with the next record; returns nil if the log may not be read (`kernel.dmesg_restrict`, containers).
  init?(path: String = "/dev/kmsg") {
    guard let file = try? Descriptor.open(path, O_RDONLY | O_NONBLOCK), lseek(file.number, 0, SEEK_END) >= 0 else {
      return nil
    }
    self.file = file
  }

  /// Whether this process is in the initial pid namespace, whose pids the log has, not in a container's
  /// (pid_namespaces(7)).
  ///
  /// The initial namespace has a fixed inode number (`PROC_PID_INIT_INO`, include/linux/proc_ns.h).
  static let isInInitialPIDNamespace: Bool = {
    var status = stat()
    return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == 0xEFFF_FFFC
  }()

  /// All kills logged so far.
  func kills() -> [KernelKill] {
    withUnsafeTemporaryAllocation(byteCount: Self.recordSize, alignment: 1) { buffer in
      for _ in 0..<Self.maxRecords {
        let count = read(file.number, buffer.baseAddress, buffer.count)
        // EPIPE: records were overwritten before they were read; the next read continues after them.
        if count < 0 && (errno == EPIPE || errno == EINTR) { continue }
        guard count > 0 else { break }
        reader.take(String(decoding: buffer[..<count], as: UTF8.self))
      }
    }
    return reader.kills
  }
}

/// A kill by the OOM killer, as the kernel logs it (mm/oom_kill.c).
struct KernelKill: Sendable, Equatable {
  /// In the initial pid namespace, not a container's.
  let pid: Int32
  /// Whether the cause was the limit of a cgroup, not the machine's memory.
  let isOfCgroup: Bool
  /// The path of the killed process's memory cgroup, from the root of the hierarchy; nil if not logged.
  let cgroup: String?
  let line: String
}

/// Finds OOM kills in records of the kernel log.
///
/// A line `oom-kill:constraint=…` names the cgroups (since Linux 5.0, rate-limited to ten in 5 s), and the following
/// line, `… Killed process …`, reports the kill.
struct KillReader {
  private(set) var kills: [KernelKill] = []
  /// The `oom-kill:` lines without a kill so far, by the pid of the victim.
  private var victims: [Int32: Substring] = [:]

  /// The maximum number of entries of each list.
  private static let maxEntries = 1000

  /// Parses a record, such as `3,2105,11614702880,-;Memory cgroup out of memory: Killed process 645 (python3) …`.
  ///
  /// Ignores records that programs wrote: only the kernel's have facility 0.
  mutating func take(_ record: String) {
    guard let end = record.firstIndex(of: ";"), let priority = Int(record.prefix { $0 != "," }), priority < 8,
      let line = record[record.index(after: end)...].split(separator: "\n").first
    else { return }
    if line.hasPrefix("oom-kill:constraint=") {
      // The last match counts, since a process name, which the program can choose, precedes it.
      let pid = line.ranges(of: ",pid=").last.flatMap { Self.number(in: line[$0.upperBound...]) }
      guard victims.count < Self.maxEntries, let pid else { return }
      victims[pid] = line
    } else if let pid = Self.killed(in: line), kills.count < Self.maxEntries {
      let victim = victims.removeValue(forKey: pid)
      kills.append(
        KernelKill(
          pid: pid,
          // text from outside: the kernel
          isOfCgroup: victim?.hasPrefix("oom-kill:constraint=CONSTRAINT_MEMCG") ?? line.hasPrefix("Memory cgroup"),
          cgroup: victim.flatMap(Self.cgroup),
          line: String(line)
        ))
    }
  }

  /// The pid in `Out of memory: Killed process 7 (x) …`, or `Memory cgroup out of memory: Killed process 7 (x) …`;
  /// before Linux 5.1 the line began with `Killed`.
  private static func killed(in line: Substring) -> Int32? {
    // text from outside: the kernel
    guard ["Out of memory", "Memory cgroup out of memory", "Killed process "].contains(where: line.hasPrefix) else {
      return nil
    }
    // text from outside: the kernel
    return line.firstRange(of: "Killed process ").flatMap { Self.number(in: line[$0.upperBound...]) }
  }

  private static func number(in text: Substring) -> Int32? {
    Int32(text.prefix { $0.isASCII && $0.isNumber })
  }

  private static func cgroup(in victim: Substring) -> String? {
    guard let start = victim.firstRange(of: ",task_memcg=")?.upperBound,
      let end = victim[start...].ranges(of: ",task=").last?.lowerBound
    else { return nil }
    return String(victim[start..<end])
  }
}
