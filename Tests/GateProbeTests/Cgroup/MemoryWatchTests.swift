import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Detecting OOM kills", .timeLimit(.minutes(60)))
struct MemoryWatchTests {
  let testProcesses = TestProcesses()
  static let logIsReadable = KernelLog() != nil

  /// Runs a Python script as the main process in a cgroup with the limit, and returns its end.
  private func end(
    limit: Bytes?,
    passingCgroup: Bool = true,
    _ script: String,
    whileRunning: (ProcessTree) -> Void = { _ in }
  ) throws -> End {
    let testCgroup = try #require(TestCgroup(limit: limit))
    let watch = MemoryWatch(cgroup: passingCgroup ? testCgroup.cgroup : nil)
    let processTree = try testProcesses.python(testCgroup.joining + script)
    whileRunning(processTree)
    var evidence = EndEvidence()
    switch processTree.leaderEnding() {
    case .exited(let code)?: evidence.status = .exited(code: Int(code))
    case .signaled(let signal, let dumped)?:
      evidence.status = .signaled(signal: Signal(number: signal), coreDumped: dumped)
    case nil: Issue.record("no end was reported")
    }
    evidence.memory.mainProcess = processTree.leader
    evidence.memory.processes = [processTree.leader]
    processTree.killAll()
    watch.complete(&evidence)
    return End(deciding: evidence)
  }

  private static let allocation = "kept = bytearray(200 << 20)"

  @Test(
    "A program that exceeds its memory-limit was OOM-killed, with proof",
    .enabled(if: TestCgroup.canCount, "requires permission to create memory cgroups")
  )
  func ownLimit() throws {
    let decided = try end(limit: .mebibytes(64), Self.allocation)
    #expect(decided.kind == .oom && decided.signal == .kill && decided.oomKills == 1)
    #expect(decided.cause == .memoryLimit(limit: .own(limit: .mebibytes(64))))
    if case .kernelLog(let line)? = decided.proof {
      #expect(line.contains("Killed process"))
    } else {
      #expect(decided.proof == .ownCgroup(kills: .init(before: 0, after: 1), limit: .mebibytes(64)))
    }
  }

  @Test(
    "Without a cgroup of the target, the kernel log is the proof",
    .enabled(if: TestCgroup.canCount && logIsReadable, "requires memory cgroups and a readable kernel log"),
    .enabled(if: KernelLog.isInInitialPIDNamespace, "requires the initial pid namespace")
  )
  func byLog() throws {
    let decided = try end(limit: .mebibytes(64), passingCgroup: false, Self.allocation)
    #expect(decided.kind == .oom)
    guard case .kernelLog(let line)? = decided.proof else {
      Issue.record("the proof is not a line of the log")
      return
    }
    #expect(line.hasPrefix("Memory cgroup out of memory: Killed process"))
    let later = try #require(KernelLog())
    #expect(!later.kills().contains { $0.line == line }, "a log starts at the time of opening it")
  }

  @Test(
    "A SIGKILL from an unknown sender is not an OOM kill, with or without a cgroup of the target",
    .enabled(if: TestCgroup.canCount, "requires permission to create memory cgroups"),
    arguments: [true, false]
  )
  func killed(passingCgroup: Bool) throws {
    let script = "kept = bytearray(60 << 20)\nprint('up', flush=True)\nwhile True: pass"
    let decided = try end(limit: .mebibytes(64), passingCgroup: passingCgroup, script) { processTree in
      #expect(eventually { testProcesses.output == "up\n" })
      kill(processTree.leader, SIGKILL)
    }
    #expect(decided.kind == .killed && decided.oomKills == 0)
  }

  @Test(
    "The OOM kill of a child is counted, even if its parent exits with 0",
    .enabled(if: TestCgroup.canCount, "requires permission to create memory cgroups")
  )
  func child() throws {
    let decided = try end(
      limit: .mebibytes(64),
      """
      import os
      for n in range(2):
        if os.fork() == 0:
          kept = bytearray(200 << 20)
          os._exit(0)
        os.wait()
      """)
    #expect(decided.kind == .exited && decided.code == 0 && decided.oomKills == 2)
  }

  @Test("The initial pid namespace is recognized")
  func namespace() throws {
    let processTree = try testProcesses.shell("readlink /proc/self/ns/pid")
    #expect(processTree.leaderEnding() == .exited(0))
    #expect((testProcesses.output == "pid:[4026531836]\n") == KernelLog.isInInitialPIDNamespace)
  }
}
