import Glibc

/// The processes that a killed supervisor left behind.
///
/// A process belongs to the tree if its session is still the supervisor's (the kernel does not reuse a session id while
/// a process is in the session), if it was seen as a member (same pid, same start time), or if its environment contains
/// the FIFO of the tree's target. The last rule also finds daemons that were never seen.
struct Orphans {
  /// The variable of setup, step and teardown commands with the path of the run's temporary folder; targets have
  /// `HIGHWATER_MARKS`.
  static let runVariable = "HIGHWATER_RUN"

  let session: Int32?
  let known: [Int32: UInt64]
  /// How an entry of the environment of such a process begins.
  private let entries: [String]

  init(session: Int32, known: [Int32: UInt64], marksPath: String? = nil) {
    self.session = session
    self.known = known
    entries = marksPath.map { ["HIGHWATER_MARKS=\($0)"] } ?? []
  }

  /// The processes of all trees of a run, of which only its temporary folder is known.
  init(ofRunIn folder: String) {
    session = nil
    known = [:]
    entries = ["HIGHWATER_MARKS=\(folder)/", "\(Self.runVariable)=\(folder)"]
  }

  /// How many bytes of an environment are read.
  private static let maxEnvironmentSize = 1 << 20

  /// How often to scan all processes; each pass finds those that the previous one missed.
  private static let passes = 100

  /// Kills them, and waits at most 1 s until they are gone.
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

  /// Whether the process's initial environment contains one of the entries (proc_pid_environ(5)).
  private func hasEntry(_ pid: Int32) -> Bool {
    guard !entries.isEmpty,
      let environment = SmallFile.bytes(at: "/proc/\(pid)/environ", atMost: Self.maxEnvironmentSize)
    else { return false }
    return environment.split(separator: 0).contains { variable in
      entries.contains { variable.starts(with: $0.utf8) }
    }
  }

  private func remaining() -> [Int32] {
    SmallFolder.entries(of: "/proc").compactMap { Int32($0.name) }.filter(isOrphan)
  }
}
