import Glibc

/// What a shepherd that was killed by somebody has left behind.
///
/// A process is taken for one of the family if its session is still the shepherd's (the number of a session is not
/// given away while somebody is in it), or if it is one that was seen as a member: same number, same start.
struct Orphans {
  let session: Int32
  let known: [Int32: UInt64]

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
    return process.session == session || known[pid] == process.startTick
  }

  private func remaining() -> [Int32] {
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    var found: [Int32] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let pid = Int32(name), isOrphan(pid) { found.append(pid) }
    }
    return found
  }
}
