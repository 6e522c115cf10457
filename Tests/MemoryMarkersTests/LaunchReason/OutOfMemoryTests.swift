import Glibc
import LaunchRecords
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

@Suite(
  "Real OOM kills", .enabled(if: LimitedCgroup.isAvailable, "cannot create a memory cgroup here"),
  .timeLimit(.minutes(60)))
struct OutOfMemoryTests {
  private let fixture: LaunchFixture
  private let cgroup: LimitedCgroup

  init() throws {
    fixture = try LaunchFixture()
    cgroup = try #require(LimitedCgroup())
    fixture.launcher = cgroup.launcher
  }

  @Test(
    "Without the log it is inferred from the counter of the same cgroup: active, idle, or a failed launch while starting",
    arguments: [("active", LaunchReason.Activity.active, 0), ("idle", .idle, 0), ("", .starting, 1)]
  )
  func counter(activity: String, reported: LaunchReason.Activity, failures: Int) throws {
    fixture.variables["FIXTURE_LOG"] = "/dev/null"
    #expect(try fixture.run("eat", activity: activity) == .signaled(SIGKILL))
    let last = try #require(fixture.entry?.record.last)
    #expect(last.limit == UInt64(LimitedCgroup.limit))
    #expect(last.oomKills == 0)
    #expect(
      try fixture.next()
        == Report(.outOfMemory(reported, .inferred), .outOfMemory(.ownLimit, .inferred), failures: failures))
    // The counter keeps its value, which must not speak for the next kill.
    #expect(try fixture.kill("wait", activity: activity) == .signaled(SIGKILL))
    #expect(try fixture.next()?.startup == "\(StartupReason.killedUnknown(reported))")
  }

  @Test(
    "The kernel log proves it by PID, also for the next start in another cgroup",
    .enabled(if: canReadKernelLog, "the kernel log is unreadable or has PIDs of another namespace")
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
