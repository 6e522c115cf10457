import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Killed runners", .timeLimit(.minutes(60)))
struct RunnerDeathTests {
  /// The fixture is in the same folder as the test binary.
  private static let fixture: String = {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return (own ?? "").split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/supervisor-fixture"
  }()

  /// Two long-running children, one of them in its own session, and an orphan in a third session.
  private static let script = "setsid sleep 1000 & (setsid sh -c 'sleep 1000; :' &) ; sleep 1000"

  @Test("A runner that is killed at a random time leaves no process behind", arguments: 0..<60)
  func killedAtRandomTime(turn: Int) throws {
    let testProcesses = TestProcesses()
    let processTree = try testProcesses.processTree(Self.fixture, Self.script)
    // Half of the kills hit the runner while it starts its programs, which takes some 5 ms.
    usleep(UInt32.random(in: 0...(turn % 2 == 0 ? 6000 : 30_000)))
    processTree.send(.kill, to: processTree.leader)
    #expect(processTree.leaderEnding() == .signaled(9, coreDumped: false))
    // The fixture's own supervisors must kill these processes: this test's tree was not asked to.
    #expect(eventually { testProcesses.processes == [] }, "left: \(processTree.members())")
    #expect(
      eventually {
        processTree.collect(); return processTree.isEmpty
      })
  }

  @Test("The programs of a living runner keep running")
  func lives() throws {
    let testProcesses = TestProcesses()
    let processTree = try testProcesses.processTree(Self.fixture, Self.script)
    #expect(eventually { testProcesses.output.contains("started") })
    #expect(eventually { processTree.members().filter { $0.command == "sleep" }.count == 12 })
    usleep(100_000)
    let members = processTree.members()
    #expect(members.filter { $0.command == "hw-supervisor" }.count == 4)
    #expect(members.filter { $0.command == "sleep" }.count == 12)
    #expect(processTree.killAll() == [])
    #expect(testProcesses.processes == [])
  }
}
