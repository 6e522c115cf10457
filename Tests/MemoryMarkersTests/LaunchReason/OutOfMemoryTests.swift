import Glibc
import LaunchRecords
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

/// A memory cgroup of a test's own, below the one that the tests run in, or at the top.
private final class LimitedCgroup {
  static let limit = 48 << 20

  let path: String

  /// - Returns: nil where none can be made, or its limit cannot be set.
  init?() {
    let own = LaunchRoom.memoryCgroup(of: "/proc/self")
    guard !own.isEmpty else { return nil }
    path = "\(own)/highwater-markers-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    guard mkdir(path, 0o755) == 0 else { return nil }
    let limits = ["memory.limit_in_bytes", "memory.max"].filter { Self.write("\(Self.limit)", to: "\(path)/\($0)") }
    guard !limits.isEmpty else { return nil }
    // Without it the kernel would swap first, where there is swap.
    _ = Self.write("0", to: "\(path)/memory.swap.max")
    _ = Self.write("0", to: "\(path)/memory.swappiness")
  }

  deinit {
    // The kernel may count it as used for a moment after its last process was waited for.
    for _ in 0..<400 where rmdir(path) != 0 && errno == EBUSY { usleep(5000) }
  }

  private static func write(_ text: String, to file: String) -> Bool {
    let descriptor = open(file, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return Glibc.write(descriptor, text, text.utf8.count) > 0
  }

  static let canBeMade = LimitedCgroup() != nil
}

@Suite(
  "A real kill for want of memory", .enabled(if: LimitedCgroup.canBeMade, "no memory cgroup can be made here"),
  .timeLimit(.minutes(5)))
struct OutOfMemoryTests {
  private let fixture: LaunchFixture
  private let cgroup: LimitedCgroup

  private static let canReadLog: Bool = {
    let log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(log) }
    var status = stat()
    // The inode of the first pid namespace.
    return log >= 0 && stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == 0xefff_fffc
  }()

  init() throws {
    fixture = try LaunchFixture()
    cgroup = try #require(LimitedCgroup())
    fixture.launcher = ["/bin/sh", "-c", "echo $$ > \(cgroup.path)/cgroup.procs && exec \"$@\"", "sh"]
  }

  @Test(
    "The counter of the same cgroup proves it: while active a FOOM, while idle a BOOM, during the launch a failed one",
    arguments: [("active", Activity.active, 0), ("idle", .idle, 0), ("", .starting, 1)]
  )
  func counter(activity: String, told: Activity, failures: Int) throws {
    fixture.variables["FIXTURE_LOG"] = "/dev/null"
    #expect(try fixture.run("eat", activity: activity) == .signaled(SIGKILL))
    let last = try #require(fixture.entry?.record.last)
    #expect(last.limit == UInt64(LimitedCgroup.limit))
    #expect(last.oomKills == 0)
    #expect(
      try fixture.next()
        == Report(
          .outOfMemory(told, .cgroupCounter), .outOfMemory(.ownLimit, .cgroupCounter), failures: failures))
    // The counter stays; it must not prove the next kill.
    #expect(try fixture.kill("wait", activity: activity) == .signaled(SIGKILL))
    #expect(try fixture.next()?.startup == "\(StartupReason.killedUnknown(told))")
  }

  @Test(
    "From another cgroup the kernel's log proves it, by the pid",
    .enabled(if: OutOfMemoryTests.canReadLog, "the kernel's log cannot be read, or has other pids than ours")
  )
  func log() throws {
    #expect(try fixture.run("eat", activity: "active") == .signaled(SIGKILL))
    fixture.launcher = []
    #expect(
      try fixture.next()
        == Report(.outOfMemory(.active, .kernelLogPid), .outOfMemory(.ownLimit, .kernelLogPid)))
  }

  @Test("In an upgrade the kill is the end of the run before, though not the reason of the start")
  func upgraded() throws {
    #expect(try fixture.run("eat", activity: "active") == .signaled(SIGKILL))
    let report = try #require(try fixture.next(version: "1.1"))
    #expect(report.startup == "\(StartupReason.appUpgrade)")
    #expect(report.previous.hasPrefix("outOfMemory"))
  }
}
