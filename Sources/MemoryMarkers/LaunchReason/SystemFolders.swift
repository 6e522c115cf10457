import Glibc
import MarkerProtocol

/// Where the present is read from; tests put their own folders in.
package struct SystemFolders: Sendable {
  package var proc = "/proc"
  /// The folder of the process in ``proc``.
  package var own = "/proc/self"
  package var osReleases = ["/etc/os-release", "/usr/lib/os-release"]
  package var kernelLog = "/dev/kmsg"

  package init() {}

  // MARK: At the start

  /// What can be seen of the run that starts now.
  func surroundings(appVersion: String) -> LaunchRecord.Surroundings {
    var found = LaunchRecord.Surroundings()
    (found.pid, found.startTime) = Self.identity(in: "\(own)/stat") ?? (getpid(), 0)
    found.bootID = firstWord(of: "\(proc)/sys/kernel/random/boot_id")
    found.kernelRelease = firstWord(of: "\(proc)/sys/kernel/osrelease")
    found.osRelease = osRelease
    found.appVersion = appVersion
    found.buildID = Room.buildID
    found.cgroup = MemoryCgroup.folder(of: own) ?? ""
    found.cgroupInode = Self.inode(of: found.cgroup)
    return found
  }

  /// Whether the process still lives; one that was given the same pid since has another start.
  func isAlive(_ run: LaunchRecord.Surroundings) -> Bool {
    Self.identity(in: "\(proc)/\(run.pid)/stat").map { $0 == (run.pid, run.startTime) } ?? false
  }

  /// The pid and start of a process that is no zombie (proc_pid_stat(5)).
  ///
  /// The name, which may hold anything, ends at the last parenthesis; the state is the first word behind it, the start
  /// the twentieth.
  private static func identity(in path: String) -> (pid: Int32, startTime: UInt64)? {
    guard let text = SmallFile.text(at: path), let end = text.lastIndex(of: ")"),
      let pid = Int32(text.prefix { $0 != " " })
    else { return nil }
    let words = text[text.index(after: end)...].split(separator: " ")
    guard words.count > 19, words[0] != "Z", words[0] != "X", let start = UInt64(words[19]) else { return nil }
    return (pid, start)
  }

  /// The name of the system, and a checksum of its whole description, since a point release often keeps the name.
  private var osRelease: String {
    guard let bytes = osReleases.lazy.compactMap(SmallFile.bytes).first else { return "" }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    let name = lines.first { $0.hasPrefix("PRETTY_NAME=") }?.dropFirst(12) ?? "unnamed"
    return "\(name.filter { $0 != "\"" }.prefix(100)) \(String(CRC32C.checksum(of: bytes), radix: 16))"
  }

  private func firstWord(of path: String) -> String {
    SmallFile.words(at: path).first?.first.map(String.init) ?? ""
  }

  private static func inode(of path: String) -> UInt64 {
    var status = stat()
    return !path.isEmpty && stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
  }

  // MARK: Each second

  /// The figures that change.
  func reading(cgroup: String) -> LaunchRecord.Reading {
    var reading = LaunchRecord.Reading()
    reading.bootTime = Clock.sinceBoot()
    reading.wallTime = Clock.wall()
    let status = SmallFile.words(at: "\(own)/status")
    func figure(_ name: String) -> UInt64? {
      status.first { $0.first == Substring(name) }?.dropFirst().first.flatMap { UInt64($0) }
    }
    reading.resident = (figure("VmRSS:") ?? 0) * 1024
    reading.peakResident = (figure("VmHWM:") ?? 0) * 1024
    reading.tracer = figure("TracerPid:").map { Int32(truncatingIfNeeded: $0) } ?? 0
    reading.limit = MemoryCgroup.limit(of: cgroup)
    reading.oomKills = MemoryCgroup.oomKills(of: cgroup)
    reading.pressure = pressure(of: cgroup)
    return reading
  }

  /// The cgroup's own pressure, where the kernel tells it (v2), else the machine's (Documentation/accounting/psi.rst).
  private func pressure(of cgroup: String) -> Double {
    let files = (cgroup.isEmpty ? [] : ["\(cgroup)/memory.pressure"]) + ["\(proc)/pressure/memory"]
    let full = files.lazy.compactMap { file in SmallFile.words(at: file).first { $0.first == "full" } }.first
    let average = full?.first { $0.hasPrefix("avg10=") }?.dropFirst(6)
    return average.flatMap { Double($0) } ?? 0
  }
}

/// Clocks, in nanoseconds.
enum Clock {
  /// Since boot, suspended time included.
  static func sinceBoot() -> UInt64 { read(CLOCK_BOOTTIME) }

  /// Since 1970.
  static func wall() -> UInt64 { read(CLOCK_REALTIME) }

  private static func read(_ clock: CInt) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
