import Glibc
import LinuxSystem

/// What the kernel's log says from an instant on (`/dev/kmsg`, `Documentation/ABI/testing/dev-kmsg`).
final class KernelLog {
  private let file: Descriptor
  private var reader = KillReader()

  /// No record is longer, or the reading fails (`PRINTK_MESSAGE_MAX`, kernel/printk/internal.h).
  private static let recordSize = 8192

  /// The most records that are read at once.
  private static let mostRecords = 20_000

  /// Starts with what comes from now on; nil where the log may not be read (`kernel.dmesg_restrict`, containers).
  init?(path: String = "/dev/kmsg") {
    guard let file = try? Descriptor.open(path, O_RDONLY | O_NONBLOCK), lseek(file.number, 0, SEEK_END) >= 0 else {
      return nil
    }
    self.file = file
  }

  /// All kills that were logged so far.
  func kills() -> [KernelKill] {
    withUnsafeTemporaryAllocation(byteCount: Self.recordSize, alignment: 1) { buffer in
      for _ in 0..<Self.mostRecords {
        let count = read(file.number, buffer.baseAddress, buffer.count)
        // EPIPE: records were overwritten before they were read; the next reading goes on behind them.
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
  /// In the numbering of the machine, not of a container.
  let pid: Int32
  /// Whether the limit of a cgroup was the cause, and not the machine's memory.
  let isOfCgroup: Bool
  /// The path of the killed process's memory cgroup, from the root of the hierarchy; nil where the log did not say.
  let cgroup: String?
  let line: String
}

/// Finds kills in the records of the kernel's log.
///
/// A line `oom-kill:constraint=…` names the cgroups (since Linux 5.0, and not of each kill: at most ten in 5 s), and
/// the next one, `… Killed process …`, says that it was done.
struct KillReader {
  private(set) var kills: [KernelKill] = []
  /// By the process that was chosen, what the line before said of it.
  private var choices: [Int32: Substring] = [:]

  /// More are not kept.
  private static let most = 1000

  /// Takes in a record, as in `3,2105,11614702880,-;Memory cgroup out of memory: Killed process 645 (python3) …`.
  ///
  /// Records that programs wrote themselves are not believed: they have another facility than the kernel's, which is 0.
  mutating func take(_ record: String) {
    guard let end = record.firstIndex(of: ";"), let priority = Int(record.prefix { $0 != "," }), priority < 8,
      let line = record[record.index(after: end)...].split(separator: "\n").first
    else { return }
    if line.hasPrefix("oom-kill:constraint=") {
      // Of several places the last one counts: names that programs give themselves come before it.
      let pid = line.ranges(of: ",pid=").last.flatMap { Self.number(in: line[$0.upperBound...]) }
      guard choices.count < Self.most, let pid else { return }
      choices[pid] = line
    } else if let pid = Self.killed(in: line), kills.count < Self.most {
      let choice = choices.removeValue(forKey: pid)
      kills.append(
        KernelKill(
          pid: pid,
          // text from outside: the kernel
          isOfCgroup: choice?.hasPrefix("oom-kill:constraint=CONSTRAINT_MEMCG") ?? line.hasPrefix("Memory cgroup"),
          cgroup: choice.flatMap(Self.cgroup),
          line: String(line)
        ))
    }
  }

  /// The process of `Out of memory: Killed process 7 (x) …`, or `Memory cgroup out of memory: Killed process 7 (x) …`;
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

  private static func cgroup(in choice: Substring) -> String? {
    guard let start = choice.firstRange(of: ",task_memcg=")?.upperBound,
      let end = choice[start...].ranges(of: ",task=").last?.lowerBound
    else { return nil }
    return String(choice[start..<end])
  }
}
