import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("The death of the runner", .timeLimit(.minutes(5)))
struct RunnerDeathTests {
  /// The program beside the one that runs the tests.
  private static let fixture: String = {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return (own ?? "").split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/shepherd-fixture"
  }()

  /// Two processes that stay, one of them in a session of its own, and one that nobody waits for.
  private static let script = "setsid sleep 1000 & (setsid sh -c 'sleep 1000; :' &) ; sleep 1000"

  @Test("A runner that is killed at any moment leaves nothing behind", arguments: 0..<60)
  func killedAtAnyMoment(turn: Int) throws {
    let household = Household()
    let family = try household.family(Self.fixture, Self.script)
    // Half of them while it starts its programs, which takes some 5 ms.
    usleep(UInt32.random(in: 0...(turn % 2 == 0 ? 6000 : 30_000)))
    family.send(.kill, to: family.leader)
    #expect(family.leaderEnding() == .signaled(9, coreDumped: false))
    // What is looked at here was not dispersed by this test's own family.
    #expect(eventually { household.processes == [] }, "left: \(family.members())")
    #expect(
      eventually {
        family.collect(); return family.isDispersed
      })
  }

  @Test("As long as the runner lives, so do the programs that it has started")
  func lives() throws {
    let household = Household()
    let family = try household.family(Self.fixture, Self.script)
    #expect(eventually { household.output.contains("started") })
    #expect(eventually { family.members().filter { $0.command == "sleep" }.count == 12 })
    usleep(100_000)
    let members = family.members()
    #expect(members.filter { $0.command == "hw-shepherd" }.count == 4)
    #expect(members.filter { $0.command == "sleep" }.count == 12)
    #expect(family.disperse() == [])
    #expect(household.processes == [])
  }
}
