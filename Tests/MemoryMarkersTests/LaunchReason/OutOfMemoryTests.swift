import Glibc
import LaunchRecords
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

/// A memory cgroup for a test, below the cgroup of the test process.
private final class LimitedCgroup {
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

@Suite(
  "Real OOM kills", .enabled(if: LimitedCgroup.isAvailable, "cannot create a memory cgroup here"),
  .timeLimit(.minutes(5)))
struct OutOfMemoryTests {
  private let fixture: LaunchFixture
  private let cgroup: LimitedCgroup

  private static let canReadLog: Bool = {
    let log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(log) }
    var status = stat()
    // The inode of the initial pid namespace.
    return log >= 0 && stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == 0xefff_fffc
  }()

  init() throws {
    fixture = try LaunchFixture()
    cgroup = try #require(LimitedCgroup())
    fixture.launcher = ["/bin/sh", "-c", "echo $$ > \(cgroup.path)/cgroup.procs && exec \"$@\"", "sh"]
  }

  @Test(
    "The counter of the same cgroup proves it: an active or idle OOM kill, or a failed launch while starting",
    arguments: [("active", Activity.active, 0), ("idle", .idle, 0), ("", .starting, 1)]
  )
  func counter(activity: String, reported: Activity, failures: Int) throws {
    fixture.variables["FIXTURE_LOG"] = "/dev/null"
    #expect(try fixture.run("eat", activity: activity) == .signaled(SIGKILL))
    let last = try #require(fixture.entry?.record.last)
    #expect(last.limit == UInt64(LimitedCgroup.limit))
    #expect(last.oomKills == 0)
    #expect(
      try fixture.next()
        == Report(
          .outOfMemory(reported, .cgroupCounter), .outOfMemory(.ownLimit, .cgroupCounter), failures: failures))
    // The counter keeps its value, which must not prove the next kill.
    #expect(try fixture.kill("wait", activity: activity) == .signaled(SIGKILL))
    #expect(try fixture.next()?.startup == "\(StartupReason.killedUnknown(reported))")
  }

  @Test(
    "In another cgroup the kernel log proves it by PID",
    .enabled(if: OutOfMemoryTests.canReadLog, "the kernel log is unreadable or has PIDs of another namespace")
  )
  func log() throws {
    #expect(try fixture.run("eat", activity: "active") == .signaled(SIGKILL))
    fixture.launcher = []
    #expect(
      try fixture.next()
        == Report(.outOfMemory(.active, .kernelLogPid), .outOfMemory(.ownLimit, .kernelLogPid)))
  }

  @Test("In an upgrade the OOM kill is the previous end, but not the startup reason")
  func upgraded() throws {
    #expect(try fixture.run("eat", activity: "active") == .signaled(SIGKILL))
    let report = try #require(try fixture.next(version: "1.1"))
    #expect(report.startup == "\(StartupReason.appUpgrade)")
    #expect(report.previous.hasPrefix("outOfMemory"))
  }
}
