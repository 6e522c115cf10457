import Glibc

/// What a supervisor that was killed has left behind.
///
/// A process is taken for one of the tree if its session is still the supervisor's (the number of a session is not
/// given away while a process is in it), if it is one that was seen as a member (same number, same start), or if its
/// environment names the FIFO of the tree's target: so a daemon is found that was never seen before.
struct Orphans {
  let session: Int32
  let known: [Int32: UInt64]
  private let entry: [UInt8]?

  init(session: Int32, known: [Int32: UInt64], marksPath: String? = nil) {
    self.session = session
    self.known = known
    entry = marksPath.map { Array("HIGHWATER_MARKS=\($0)".utf8) }
  }

  /// What is read of an environment.
  private static let largestEnvironment = 1 << 20

  /// How often the machine's processes are gone through; each pass finds what the one before has missed.
  private static let passes = 100

  /// Kills them, and waits until they are gone, 1 s at most.
  func kill() {
    for _ in 0..<Self.passes {
      let left = remaining()
      guard !left.isEmpty else { return }
      for pid in left { _ = LinuxCalls.send(SIGKILL, to: pid, where: isOrphan) }
      usleep(10_000)
    }
  }

  private func isOrphan(_ pid: Int32) -> Bool {
    guard let process = ProcessStat(of: pid), process.isAlive else { return false }
    return process.session == session || known[pid] == process.startTick || hasEntry(pid)
  }

  /// Whether the process was started with the entry in its environment (proc_pid_environ(5)).
  private func hasEntry(_ pid: Int32) -> Bool {
    guard let entry, let environment = SmallFile.bytes(at: "/proc/\(pid)/environ", atMost: Self.largestEnvironment)
    else {
      return false
    }
    return environment.split(separator: 0).contains { $0.elementsEqual(entry) }
  }

  private func remaining() -> [Int32] {
    SmallFolder.entries(of: "/proc").compactMap { Int32($0.name) }.filter(isOrphan)
  }
}
