import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite(
  "The cgroup of an ended process tree", .timeLimit(.minutes(60)),
  .enabled(if: TestCgroup.canCount, "requires permission to create memory cgroups")
)
struct LastCountersTests {
  private let testProcesses = TestProcesses()

  @Test("It exists until its counters were read, even if a kill request arrives after the last process has ended")
  func untilReleased() throws {
    let cgroup = try #require(Cgroup(at: .current))
    var request = testProcesses.request(["/bin/true"])
    request.containment = cgroup.containment
    let supervisor = try LinuxCalls.startSupervisor(request.plan(executing: "/bin/true"))
    defer { supervisor.close() }
    #expect(eventually { LinuxCalls.events(from: supervisor.report)?.contains(.done) == true })
    LinuxCalls.requestKillAll(supervisor)
    usleep(50_000)
    #expect(cgroup.memory?.kills == 0)
    LinuxCalls.release(supervisor)
    LinuxCalls.reap(supervisor.pid)
    #expect(cgroup.containment.folders.allSatisfy { access($0, F_OK) != 0 })
  }
}
