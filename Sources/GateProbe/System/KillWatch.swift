import GateCore
import Glibc
import LinuxSystem
import Synchronization

/// Who has sent SIGKILL to which process of this machine, as the kernel's tracepoint `signal:signal_generate` tells.
///
/// It needs the right to read tracefs, and that to watch all processes (CAP_PERFMON, perf_event_open(2)). All that it opens
/// vanishes with this process.
final class KillWatch: Sendable {
  /// A signal that was sent.
  struct Kill: Sendable, Equatable {
    let target: Int32
    /// The process that sent it, or in which the kernel did.
    let sender: Int32
    /// Its name, read at once; nil if it had ended by then.
    let command: String?
    let isFromKernel: Bool
    let time: MonotonicTime
  }

  /// The watch of this process, opened once; nil where it is not permitted.
  static let shared = KillWatch()

  /// `SI_KERNEL` (sigaction(2)).
  private static let fromKernel: Int32 = 0x80
  /// How many kills are kept.
  private static let most = 1024
  /// How long a kill may take to get here that has ended a process already.
  private static let delay = Duration.milliseconds(200)

  private let seen = Mutex<[Kill]>([])

  private init?() {
    guard KernelLog.isInInitialPIDNamespace, let format = KillFormat.ofThisKernel, LinuxCalls.openKills(format) else {
      return nil
    }
    let thread = try? PosixThread(named: "hw-kills") { [weak self] in
      while let kills = LinuxCalls.awaitKills() { self?.note(kills) }
    }
    guard let thread else { return nil }
    thread.detach()
  }

  private func note(_ kills: [(target: Int32, sender: Int32, code: Int32, time: MonotonicTime)]) {
    let named = kills.map { kill in
      Kill(
        target: kill.target, sender: kill.sender, command: ProcessStat(of: kill.sender)?.command,
        isFromKernel: kill.code == Self.fromKernel, time: kill.time)
    }
    seen.withLock { $0 = ($0 + named).suffix(Self.most) }
  }

  /// The first SIGKILL that a process got after this time; waits a moment if none was seen.
  func kill(of pid: Int32, after start: MonotonicTime) -> Kill? {
    let deadline = MonotonicTime.after(Self.delay)
    while true {
      let found = seen.withLock { $0.first { $0.target == pid && $0.time >= start } }
      if found != nil || deadline.hasPassed { return found }
      usleep(5000)
    }
  }
}

/// Where a record of `signal:signal_generate` has what.
struct KillFormat: Sendable, Equatable {
  /// The number of the tracepoint.
  let tracepoint: UInt64
  /// The offsets of its fields.
  let target: Int32
  let code: Int32

  /// Returns nil if the text lacks a field.
  init?(parsing text: String) {
    var (number, offsets): (UInt64?, [Substring: Int32]) = (nil, [:])
    for line in text.split(separator: "\n") {
      if line.hasPrefix("ID: ") { number = UInt64(line.dropFirst(4)) }
      // As in `field:pid_t pid;	offset:36;	size:4;	signed:1;`.
      let parts = line.split(separator: ";").map { $0.drop { $0 == "\t" || $0 == " " } }
      guard parts.count > 1, parts[0].hasPrefix("field:"), parts[1].hasPrefix("offset:"),
        let name = parts[0].split(separator: " ").last
      else { continue }
      offsets[name] = Int32(parts[1].dropFirst(7))
    }
    guard let number, let target = offsets["pid"], let code = offsets["code"], min(target, code) >= 0 else {
      return nil
    }
    (tracepoint, self.target, self.code) = (number, target, code)
  }

  static var ofThisKernel: KillFormat? {
    ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].lazy
      .compactMap { SmallFile.text(at: "\($0)/events/signal/signal_generate/format") }.first.flatMap(KillFormat.init)
  }
}
