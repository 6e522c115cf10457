import GateCore
import Testing

@Suite("Ends of targets")
struct EndDecisionTests {
  private func end(
    _ status: EndEvidence.Status?,
    action: EndEvidence.RunnerAction = .none,
    sent: Set<Signal> = [],
    lines: [String] = []
  ) -> End {
    End(deciding: EndEvidence(status: status, runnerAction: action, sentSignals: sent, lastLines: lines))
  }

  @Test("A target that did not start gives the reason, whatever other evidence there is")
  func startFailed() {
    let evidence = EndEvidence(startFailure: .setupFailed, status: .exited(code: 0), runnerAction: .stop)
    #expect(End(deciding: evidence) == End(.startFailed, cause: .setupFailed))
  }

  @Test("An exit code is reported unchanged", arguments: [0, 1, 3, 126, 127, 128, 200, 255])
  func exited(code: Int) {
    #expect(end(.exited(code: code)) == End(.exited, code: code))
  }

  @Test(
    "A shell's exit code for a signal is reported with the signal", arguments: [(137, "KILL"), (143, "TERM")])
  func fromShell(code: Int, name: String) throws {
    let signal = try #require(Signal(name: name))
    #expect(end(.exited(code: code)) == End(.exited, code: code, cause: .signalOfChild(signal: signal)))
  }

  @Test(
    "The kind of an unrequested signal depends on the signal",
    arguments: [
      ("HUP", .signaled), ("INT", .signaled), ("QUIT", .signaled), ("ILL", .trap), ("TRAP", .trap), ("ABRT", .abort),
      ("BUS", .crash), ("FPE", .crash), ("KILL", .killed), ("USR1", .signaled), ("SEGV", .crash), ("USR2", .signaled),
      ("PIPE", .signaled), ("ALRM", .signaled), ("TERM", .signaled), ("XCPU", .signaled), ("XFSZ", .signaled),
      ("SYS", .crash),
    ] as [(String, End.Kind)]
  )
  func signaled(name: String, kind: End.Kind) throws {
    let signal = try #require(Signal(name: name))
    let decided = end(.signaled(signal: signal, coreDumped: false))
    #expect(decided.kind == kind)
    #expect(decided.signal == signal)
    #expect(decided.code == nil)
  }

  @Test("SIGKILL by an unknown sender is a kill, and by the runner a stop")
  func killed() {
    let unknown = End(.killed, signal: .kill, cause: .senderUnknown(nearLimit: nil))
    #expect(end(.signaled(signal: .kill, coreDumped: false)) == unknown)
    let byRunner = end(.signaled(signal: .kill, coreDumped: false), action: .stop, sent: [.term, .kill])
    #expect(byRunner == End(.stopped, signal: .kill))
    #expect(end(.signaled(signal: .kill, coreDumped: false), action: .stop, sent: [.term]).kind == .killed)
  }

  @Test("SIGKILL has the sender that the kernel tells, which an OOM kill of another process does not hide")
  func sender() {
    var evidence = EndEvidence(status: .signaled(signal: .kill, coreDumped: false))
    evidence.memory.sharedKills = MemoryEvidence.Count(before: 3, after: 4)
    #expect(End(deciding: evidence).kind == .oom)
    let sender = KillSender(process: 7, command: "timeout", isOfTarget: false)
    evidence.killSender = sender
    #expect(End(deciding: evidence) == End(.killed, signal: .kill, cause: .killedBy(sender: sender)))
    evidence.killSender = KillSender(process: nil, command: nil, isOfTarget: false)
    #expect(End(deciding: evidence).kind == .oom)
  }

  @Test("A stopped target has its exit code or the signal that stopped it")
  func stopped() {
    #expect(end(.exited(code: 7), action: .stop, sent: [.term]) == End(.stopped, code: 7))
    #expect(end(.exited(code: 143), action: .stop, sent: [.term]) == End(.stopped, code: 143, signal: .term))
    #expect(end(.exited(code: 143), action: .stop, sent: [.int]) == End(.stopped, code: 143))
    #expect(
      end(.signaled(signal: .term, coreDumped: false), action: .stop, sent: [.term]) == End(.stopped, signal: .term))
    #expect(end(nil, action: .stop, sent: [.term]).kind == .stopped)
  }

  @Test("A crash during the stop is a crash")
  func crashWhileStopping() {
    #expect(
      end(.signaled(signal: .segv, coreDumped: false), action: .stop, sent: [.term]) == End(.crash, signal: .segv))
  }

  @Test("A signal sent by a step is a stop; an exit code after it is a normal exit")
  func stepSignal() {
    let usr1 = Signal(number: 10)
    #expect(end(.signaled(signal: usr1, coreDumped: false), sent: [usr1]) == End(.stopped, signal: usr1))
    #expect(end(.exited(code: 0), sent: [usr1]) == End(.exited, code: 0))
  }

  @Test("A timeout takes precedence over the end that it causes")
  func timeout() {
    let timeout = End.Timeout.notReady(within: .seconds(10))
    let decided = end(.signaled(signal: .kill, coreDumped: false), action: .timeout(timeout), sent: [.kill])
    #expect(decided == End(.timeout, cause: .timeout(kind: timeout, limitHits: nil)))
  }

  @Test("An abort is an allocation failure only if the output has the size of the allocation")
  func allocation() {
    let line = "x/x.swift:1: Fatal error: failed to allocate 10485792 bytes of memory with alignment 8"
    let decided = end(.signaled(signal: .abrt, coreDumped: true), lines: ["before", line, "after"])
    #expect(decided == End(.allocationFailure, signal: .abrt, proof: .failedAllocation(line: line)))
    let vague = ["failed to allocate bytes", "failed to allocate 12 buffers", "cannot allocate 5 bytes"]
    #expect(end(.signaled(signal: .abrt, coreDumped: false), lines: vague) == End(.abort, signal: .abrt))
  }

  @Test("A trap has the runtime's last fatal error")
  func trap() {
    let lines = ["Fatal error: old", "main/x.swift:3: Fatal error: Index out of range", "*** backtrace"]
    #expect(end(.signaled(signal: .ill, coreDumped: false), lines: lines).cause == .fatalError(line: lines[1]))
    #expect(end(.signaled(signal: .trap, coreDumped: true)).cause == .coreDumped)
  }

  @Test("An end without a status is unknown")
  func unknown() {
    #expect(end(nil).kind == .unknown)
  }
}
