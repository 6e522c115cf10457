import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Watching for kills for want of memory", .timeLimit(.minutes(5)))
struct MemoryWatchTests {
  let testProcesses = TestProcesses()
  static let logIsReadable = KernelLog() != nil

  /// Runs a Python script as the main process in a cgroup with the limit, and decides on its end.
  private func end(
    limit: Bytes?,
    tellingCgroup: Bool = true,
    _ script: String,
    meanwhile: (ProcessTree) -> Void = { _ in }
  ) throws -> End {
    let made = try #require(MadeCgroup(limit: limit))
    let watch = MemoryWatch(cgroup: tellingCgroup ? made.cgroup : nil)
    let processTree = try testProcesses.python(made.joining + script)
    meanwhile(processTree)
    var evidence = EndEvidence()
    switch processTree.leaderEnding() {
    case .exited(let code)?: evidence.status = .exited(Int(code))
    case .signaled(let signal, let dumped)?: evidence.status = .signaled(Signal(number: signal), coreDumped: dumped)
    case nil: Issue.record("the end was not seen")
    }
    evidence.memory.mainProcess = processTree.leader
    evidence.memory.processes = [processTree.leader]
    processTree.killAll()
    watch.complete(&evidence)
    return End(deciding: evidence)
  }

  private static let greed = "kept = bytearray(200 << 20)"

  @Test(
    "A program that needs more than its memory-limit was killed by the OOM killer, with the proof",
    .enabled(if: MadeCgroup.canCount, "no cgroup with the memory controller can be made here")
  )
  func ownLimit() throws {
    let decided = try end(limit: .mebibytes(64), Self.greed)
    #expect(decided.kind == .oom && decided.signal == .kill && decided.oomKills == 1)
    #expect(decided.cause == .memoryLimit(.own(.mebibytes(64))))
    if case .kernelLog(let line)? = decided.proof {
      #expect(line.contains("Killed process"))
    } else {
      #expect(decided.proof == .ownCgroup(kills: .init(before: 0, after: 1), limit: .mebibytes(64)))
    }
  }

  @Test(
    "Where the target has no cgroup of its own, the kernel's log is the proof",
    .enabled(if: MadeCgroup.canCount && logIsReadable, "no kill can be caused here, or the log may not be read"),
    .enabled(if: LinuxCalls.isInInitialPIDNamespace, "the log numbers processes in another way")
  )
  func byLog() throws {
    let decided = try end(limit: .mebibytes(64), tellingCgroup: false, Self.greed)
    #expect(decided.kind == .oom)
    guard case .kernelLog(let line)? = decided.proof else {
      Issue.record("the proof is no line of the log")
      return
    }
    #expect(line.hasPrefix("Memory cgroup out of memory: Killed process"))
    let later = try #require(KernelLog())
    #expect(!later.kills().contains { $0.line == line }, "a log is read from its opening on")
  }

  @Test(
    "A program that somebody kills has an unknown end, with a cgroup of its own and without",
    .enabled(if: MadeCgroup.canCount, "no cgroup with the memory controller can be made here"),
    arguments: [true, false]
  )
  func killed(tellingCgroup: Bool) throws {
    let script = "kept = bytearray(60 << 20)\nprint('up', flush=True)\nwhile True: pass"
    let decided = try end(limit: .mebibytes(64), tellingCgroup: tellingCgroup, script) { processTree in
      #expect(eventually { testProcesses.output == "up\n" })
      kill(processTree.leader, SIGKILL)
    }
    #expect(decided.kind == .killed && decided.oomKills == 0)
  }

  @Test(
    "A child that the OOM killer killed is counted, though its parent exits with 0",
    .enabled(if: MadeCgroup.canCount, "no cgroup with the memory controller can be made here")
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

  @Test("The log's numbers of processes count as ours in the machine's first namespace only")
  func namespace() throws {
    let processTree = try testProcesses.shell("readlink /proc/self/ns/pid")
    #expect(processTree.leaderEnding() == .exited(0))
    #expect((testProcesses.output == "pid:[4026531836]\n") == LinuxCalls.isInInitialPIDNamespace)
  }
}
