import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite(
  "The cgroup of a family that has ended", .enabled(if: MadeCgroup.canCount, "no memory cgroup can be made here"),
  .timeLimit(.minutes(5))
)
struct LastCountersTests {
  private let household = Household()

  @Test("It is there until its counters were read, though a wish to kill comes when all has ended by itself")
  func untilReleased() throws {
    let cgroup = try #require(Cgroup(at: .here))
    var request = household.request(["/bin/true"])
    request.containment = cgroup.containment
    let shepherd = try LinuxCalls.startShepherd(for: request, path: "/bin/true")
    defer { shepherd.close() }
    #expect(eventually { LinuxCalls.news(from: shepherd.report)?.contains(.done) == true })
    LinuxCalls.askToDisperse(shepherd)
    usleep(50_000)
    #expect(cgroup.memory?.kills == 0)
    LinuxCalls.release(shepherd)
    LinuxCalls.reap(shepherd.pid)
    #expect(cgroup.containment.folders.allSatisfy { access($0, F_OK) != 0 })
  }
}
