import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Supervisors whose pipe takes no requests", .timeLimit(.minutes(5)))
struct RefusedRequestTests {
  /// Starts a program whose supervisor is stopped and has a full pipe, so that no further request can be written.
  private func unreachable(_ testProcesses: TestProcesses, _ words: [String]) throws -> LinuxCalls.Supervisor {
    let path = try ProgramSearch.path(of: testProcesses.request(words))
    let supervisor = try LinuxCalls.startSupervisor(testProcesses.request(words).plan(executing: path))
    #expect(eventually { LinuxCalls.descendants(of: supervisor.pid).count == 1 })
    kill(supervisor.pid, SIGSTOP)
    #expect(eventually { ProcessStat(of: supervisor.pid)?.state == UInt8(ascii: "T") })
    #expect(fcntl(supervisor.control, F_SETFL, O_NONBLOCK) == 0)
    // A request that changes nothing.
    var request = UInt8(3)
    while write(supervisor.control, &request, 1) == 1 {}
    #expect(errno == EAGAIN)
    return supervisor
  }

  @Test("A refused request to kill the tree is replaced by the end of the pipe")
  func killing() throws {
    let testProcesses = TestProcesses()
    let supervisor = try unreachable(testProcesses, ["/bin/sleep", "1000"])
    defer { supervisor.close() }
    LinuxCalls.requestKillAll(supervisor)
    #expect(eventually { testProcesses.processes == [] })
    LinuxCalls.reap(supervisor.pid)
    #expect(LinuxCalls.parent(of: supervisor.pid) == nil)
  }
}
