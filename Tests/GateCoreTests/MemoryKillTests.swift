import GateCore
import Testing

@Suite("OOM kills")
struct MemoryKillTests {
  private typealias Count = MemoryEvidence.Count

  private static let main: Int32 = 100
  private static let late = End.Timeout.notEnded(within: .seconds(300))
  private static let line = "Memory cgroup out of memory: Killed process 100 (x)"

  /// An unexplained SIGKILL of the main process, unless changed.
  private func end(
    _ change: (inout MemoryEvidence) -> Void,
    status: EndEvidence.Status? = .signaled(signal: .kill, coreDumped: false),
    action: EndEvidence.RunnerAction = .none,
    sent: Set<Signal> = []
  ) -> End {
    var evidence = EndEvidence(status: status, runnerAction: action, sentSignals: sent)
    evidence.memory.mainProcess = Self.main
    evidence.memory.processes = [Self.main, 101, 102]
    change(&evidence.memory)
    return End(deciding: evidence)
  }

  private func logged(_ pid: Int32?, isOfCgroup: Bool = true) -> MemoryEvidence.LoggedKill {
    MemoryEvidence.LoggedKill(pid: pid, isOfCgroup: isOfCgroup, line: Self.line)
  }

  @Test("A log line about the main process is evidence and identifies the limit")
  func logLine() {
    let atLimit = end {
      $0.log = [logged(101), logged(Self.main)]
      $0.limit = .mebibytes(100)
      $0.limitIsOwn = true
    }
    let expected = End(
      .oom, signal: .kill, proof: .kernelLog(line: Self.line), cause: .memoryLimit(limit: .own(limit: .mebibytes(100))),
      oomKills: 2)
    #expect(atLimit == expected)
    let ofMachine = end { $0.log = [logged(Self.main, isOfCgroup: false)] }
    #expect(ofMachine.kind == .oom && ofMachine.cause == .memoryLimit(limit: .machine))
  }

  @Test(
    "SIGKILL by the runner after such a line, or an unknown end, is still an OOM kill",
    arguments: [
      (.signaled(signal: .kill, coreDumped: false), .stop),
      (.signaled(signal: .kill, coreDumped: false), .timeout(Self.late)),
      (nil, .stop), (nil, .none),
    ] as [(EndEvidence.Status?, EndEvidence.RunnerAction)]
  )
  func sentLater(status: EndEvidence.Status?, action: EndEvidence.RunnerAction) {
    let decided = end({ $0.log = [logged(Self.main)] }, status: status, action: action, sent: [.term, .kill])
    #expect(decided.kind == .oom && decided.signal == .kill)
  }

  @Test("A log line does not turn an exit into a kill: the PID was reused")
  func exitWithLine() {
    let decided = end({ $0.log = [logged(Self.main)] }, status: .exited(code: 0))
    #expect(decided.kind == .exited && decided.oomKills == 1)
  }

  @Test("Without a log the OOM counter of the target's own cgroup is evidence")
  func ownCount() {
    let decided = end {
      $0.ownKills = Count(before: 0, after: 1)
      $0.limit = .mebibytes(100)
      $0.limitIsOwn = true
      $0.limitHits = Count(before: 0, after: 36)
    }
    let proof = End.Proof.ownCgroup(kills: Count(before: 0, after: 1), limit: .mebibytes(100))
    let cause = End.Cause.memoryLimit(limit: .own(limit: .mebibytes(100)))
    #expect(decided == End(.oom, signal: .kill, proof: proof, cause: cause, oomKills: 1))
  }

  @Test("Without a hit of its own limit, the kill came from an outer cgroup")
  func outerLimit() {
    let noHit = end {
      $0.ownKills = Count(before: 0, after: 1)
      $0.limit = .mebibytes(100)
      $0.limitIsOwn = true
      $0.limitHits = Count(before: 0, after: 0)
    }
    #expect(noHit.cause == .memoryLimit(limit: .outside(own: .mebibytes(100))))
    let outer = end {
      $0.ownKills = Count(before: 0, after: 1)
      $0.limit = .mebibytes(2048)
    }
    #expect(outer.cause == .memoryLimit(limit: .outerCgroup(limit: .mebibytes(2048))))
    let unknownLimit = end { $0.ownKills = Count(before: 0, after: 1) }
    #expect(unknownLimit.proof == .ownCgroup(kills: Count(before: 0, after: 1), limit: nil))
    #expect(unknownLimit.cause == .memoryLimit(limit: .unknown))
  }

  @Test("Logged kills of other processes do not count for the main process")
  func others() {
    func decided(kills: Int64) -> End {
      end {
        $0.ownKills = Count(before: 0, after: kills)
        $0.log = [logged(101)]
      }
    }
    #expect(decided(kills: 1).kind == .killed && decided(kills: 1).oomKills == 1)
    #expect(decided(kills: 2).kind == .oom && decided(kills: 2).oomKills == 2)
  }

  @Test("A line of a container's log, whose PIDs are foreign, only gives the cause")
  func foreignNumbers() {
    let decided = end {
      $0.ownKills = Count(before: 0, after: 1)
      $0.log = [logged(nil, isOfCgroup: false)]
    }
    #expect(decided.kind == .oom && decided.cause == .memoryLimit(limit: .machine))
    #expect(decided.proof == .ownCgroup(kills: Count(before: 0, after: 1), limit: nil))
  }

  @Test(
    "The counter closest to the target decides; if it did not rise, there was no OOM kill",
    arguments: [
      (nil, nil, nil, nil, false), (0, nil, nil, nil, false), (1, nil, nil, nil, true), (0, 1, 1, 0, false),
      (nil, 0, 1, 0, false), (nil, 1, 1, nil, true), (nil, nil, 1, 0, true), (nil, nil, 1, 2, true),
      (nil, nil, 1, 3, false), (nil, nil, 1, nil, false), (nil, nil, 0, 0, false),
    ] as [(Int64?, Int64?, Int64?, Int?, Bool)]
  )
  func nearestCount(own: Int64?, shared: Int64?, machine: Int64?, larger: Int?, isOom: Bool) {
    let decided = end {
      $0.ownKills = own.map { Count(before: 0, after: $0) }
      $0.sharedKills = shared.map { Count(before: 7, after: 7 + $0) }
      $0.machineKills = machine.map { Count(before: 3, after: 3 + $0) }
      $0.largerProcesses = larger
    }
    #expect(decided.kind == (isOom ? .oom : .killed))
    guard own == nil, isOom else { return }
    let proof: End.Proof? =
      shared.map { .sharedCgroup(kills: Count(before: 7, after: 7 + $0)) }
      ?? machine.map { .machine(kills: Count(before: 3, after: 3 + $0)) }
    #expect(decided.proof == proof)
  }

  @Test(
    "Near the limit an OOM kill is inferred from 95 %, and only without counters",
    arguments: [
      (95, nil, .oom), (98, nil, .oom), (94, nil, .killed), (98, 0, .killed),
    ] as [(Int64, Int64?, End.Kind)]
  )
  func inferred(percent: Int64, machine: Int64?, kind: End.Kind) {
    let decided = end {
      $0.limit = .mebibytes(100)
      $0.lastResident = .mebibytes(percent)
      $0.machineKills = machine.map { Count(before: $0, after: $0) }
    }
    #expect(decided.kind == kind)
    let share = End.LimitShare(percent: Int(percent), limit: .mebibytes(100))
    switch (kind, machine) {
    case (.oom, _): #expect(decided.proof == .nearLimit(share: share))
    case (_, nil): #expect(decided.cause == .senderUnknown(nearLimit: nil))
    default: #expect(decided.cause == .senderUnknown(nearLimit: share))
    }
    #expect(decided.oomKills == 0)
  }

  @Test("SIGKILL by the runner is a stop, whatever the tree's counters are")
  func byRunner() {
    let decided = end({ $0.ownKills = Count(before: 0, after: 1) }, action: .stop, sent: [.term, .kill])
    #expect(decided.kind == .stopped && decided.oomKills == 1)
  }

  @Test(
    "Killed children are counted whatever the end of the main process",
    arguments: [
      (.exited(code: 0), .none, .exited), (.exited(code: 3), .none, .exited), (.exited(code: 0), .stop, .stopped),
      (.signaled(signal: .segv, coreDumped: false), .none, .crash),
      (.signaled(signal: .term, coreDumped: false), .stop, .stopped),
      (nil, .none, .unknown), (.exited(code: 0), .timeout(Self.late), .timeout),
    ] as [(EndEvidence.Status?, EndEvidence.RunnerAction, End.Kind)]
  )
  func children(status: EndEvidence.Status?, action: EndEvidence.RunnerAction, kind: End.Kind) {
    let decided = end({ $0.ownKills = Count(before: 0, after: 2) }, status: status, action: action, sent: [.term])
    #expect(decided.kind == kind && decided.oomKills == 2)
    #expect(decided.proof == .ownCgroup(kills: Count(before: 0, after: 2), limit: nil))
  }

  @Test("A single killed child, reported by a shell")
  func oneChild() {
    let decided = end({ $0.log = [logged(101)] }, status: .exited(code: 137))
    #expect(decided.cause == .signalOfChild(signal: .kill) && decided.oomKills == 1)
    #expect(decided.proof == .kernelLog(line: Self.line))
  }

  @Test(
    "A timeout reports hits of the memory limit, except those caused by the page cache",
    arguments: [(0, false), (265, false), (999, false), (1000, true), (4_300_000, true)] as [(Int64, Bool)]
  )
  func timeout(hits: Int64, isNoted: Bool) {
    let decided = end(
      {
        $0.limit = .mebibytes(64)
        $0.limitHits = Count(before: 0, after: hits)
      }, action: .timeout(Self.late), sent: [.kill])
    let limitHits = isNoted ? End.LimitHits(count: hits, limit: .mebibytes(64)) : nil
    #expect(decided == End(.timeout, cause: .timeout(kind: Self.late, limitHits: limitHits)))
  }

  @Test(
    "A scenario never accepts an end with OOM kills in the tree",
    arguments: [
      End(.exited, code: 0, oomKills: 1), End(.exited, code: 137, oomKills: 2),
      End(.stopped, signal: .term, oomKills: 1),
      End(.killed, signal: .kill, oomKills: 1), End(.oom, signal: .kill, oomKills: 1), End(.oom, signal: .kill),
    ]
  )
  func acceptance(end: End) {
    let target = Target(command: .arguments(["true"]), workingDirectory: "/")
    var scenario = Scenario(name: ScenarioName("s"), target: target)
    #expect(!scenario.accepts(end))
    scenario.expect = ExpectedEnd(exits: [0, 137], signals: [.term, .kill])
    #expect(!scenario.accepts(end))
    if end.kind != .oom {
      var withoutKills = end
      withoutKills.oomKills = 0
      #expect(scenario.accepts(withoutKills))
    }
  }
}
