import GateCore
import Testing

@testable import GateProbe

@Suite("Notes on the machine")
struct MachineStateTests {
  private func scenario(_ change: (inout Scenario) -> Void = { _ in }) -> Scenario {
    let target = Target(command: .arguments(["true"]), workingDirectory: "/")
    var scenario = Scenario(name: ScenarioName("s"), target: target)
    change(&scenario)
    return scenario
  }

  @Test("A machine without problems has no notes")
  func noProblems() {
    #expect(MachineState().notes(for: scenario()) == [])
    let large = MachineState(limit: .mebibytes(4096), workingSet: .mebibytes(1000), usableCPUs: 8, onlineCPUs: 8)
    #expect(large.notes(for: scenario { $0.memoryLimit = .mebibytes(100) }) == [])
  }

  @Test(
    "Each condition that distorts values has a note",
    arguments: [
      (MachineState(hugePages: "always"), .hugePagesAlways),
      (MachineState(swapInUse: .mebibytes(12)), .swapInUse(used: .mebibytes(12))),
      (
        MachineState(limit: .mebibytes(256), workingSet: .mebibytes(30)),
        .smallLimit(limit: .mebibytes(256), used: .mebibytes(30))
      ),
      (
        MachineState(limit: .mebibytes(1000), workingSet: .mebibytes(801)),
        .smallLimit(limit: .mebibytes(1000), used: .mebibytes(801))
      ),
      (MachineState(limit: .mebibytes(511), workingSet: nil), .smallLimit(limit: .mebibytes(511), used: .zero)),
      (MachineState(usableCPUs: 2, onlineCPUs: 8), .fewerCPUs(usable: 2, online: 8)),
      (MachineState(canFixAddresses: false), .addressesNotFixed),
    ] as [(MachineState, MachineNote)]
  )
  func distorting(state: MachineState, note: MachineNote) {
    #expect(state.notes(for: scenario()) == [note])
  }

  @Test(
    "A limit has a note if it is below 512 MiB or at least 80 % full",
    arguments: [(512, 0, false), (511, 0, true), (1000, 790, false), (1000, 800, true)] as [(Int64, Int64, Bool)]
  )
  func smallLimit(limit: Int64, used: Int64, hasNote: Bool) {
    let state = MachineState(limit: .mebibytes(limit), workingSet: .mebibytes(used))
    #expect(state.notes(for: scenario()).isEmpty != hasNote)
  }

  @Test("A memory-limit above the runner's own limit has a note")
  func hiddenLimit() {
    let state = MachineState(limit: .mebibytes(1024))
    let notes = state.notes(for: scenario { $0.memoryLimit = .mebibytes(1025) })
    #expect(notes == [.hiddenLimit(limit: .mebibytes(1024), wanted: .mebibytes(1025))])
    #expect(state.notes(for: scenario { $0.memoryLimit = .mebibytes(1024) }) == [])
  }

  @Test("Conditions that the scenario controls have no notes")
  func controlled() {
    let state = MachineState(hugePages: "always", usableCPUs: 2, onlineCPUs: 8, canFixAddresses: false)
    let controlled = scenario {
      $0.isolation.hugePages = .off
      $0.isolation.cpus = [0]
      $0.isolation.randomAddresses = true
    }
    #expect(state.notes(for: controlled) == [])
    #expect(state.notes(for: scenario()).count == 3)
  }

  @Test("The state of this machine is plausible")
  func real() {
    let state = MachineState.now()
    #expect(state.hugePages == Machine.hugePages() && state.usableCPUs <= state.onlineCPUs)
    #expect(state.usableCPUs == LinuxCalls.usableCPUs().count)
    #expect((state.limit == nil) == (state.workingSet == nil))
  }
}

@Suite("The accuracy of the counters")
struct CounterCheckTests {
  @Test(
    "The bound follows the kernel's batch sizes",
    arguments: [
      (2, "6.18.44-x", 2 * 31 * 4096), (1, "6.2", 31 * 4096), (16, "6.2.0", 16 * 31 * 4096),
      (64, "7.0", 64 * 127 * 4096), (64, "6.1.9", 64 * 4096), (64, "5.15.0-91", 64 * 4096),
    ] as [(Int, String, Int64)]
  )
  func bound(cpus: Int, release: String, expected: Int64) {
    #expect(Machine.counterBound(cpus: cpus, pageSize: 4096, release: release) == Bytes(expected))
  }

  @Test("A high-water mark may lag in each of three kinds of memory")
  func markBound() {
    #expect(Machine.markBound(cpus: 2, pageSize: 4096, release: "6.18") == .kibibytes(744))
  }

  @Test("On this machine, counter and page table sum differ by at most the bound")
  func real() throws {
    let check = try #require(Machine.counters)
    #expect(abs(check.difference.count) <= check.bound.count)
    #expect(check.bound > .zero)
  }

  @Test("The idle child has touched the requested memory, and is reaped afterwards")
  func helper() throws {
    var helper: Int32 = 0
    let touched = try #require(
      LinuxCalls.withIdleChild(holding: .mebibytes(32)) { pid -> Bytes? in
        helper = pid
        return SmallFile.bytes(at: "/proc/\(pid)/status")?.withUnsafeBytes { ProcText.memory(inStatus: $0)?.anonymous }
      })
    #expect(touched >= .mebibytes(32))
    #expect(LinuxCalls.parent(of: helper) == nil)
  }
}
