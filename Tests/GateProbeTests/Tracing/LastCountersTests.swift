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

  @Test(
    "It is there until its counters were read, also where the wish to kill comes just as all ends",
    arguments: [false, true]
  )
  func untilReleased(isTraced: Bool) throws {
    for round in 0..<200 {
      let cgroup = try #require(Cgroup(at: .here))
      var request = household.request(["/bin/true"])
      request.isTraced = isTraced && LinuxCalls.canTrace
      request.containment = cgroup.containment
      let family = try Family(starting: request)
      usleep(UInt32(round) * 10)
      #expect(family.disperse() == [])
      try #require(cgroup.memory?.kills == 0, "round \(round)")
      family.release()
      try #require(cgroup.containment.folders.allSatisfy { access($0, F_OK) != 0 }, "round \(round)")
    }
  }
}
