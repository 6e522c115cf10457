import GateCore
import LinuxSystem

/// A started target, from exec to end; confined to the thread that runs the scenario.
final class TargetRun {
  let processTree: ProcessTree
  let sampler: Sampler
  let output: OutputChannel
  let marks: MarkList
  let instruments: Instruments
  /// The time of the exec.
  let start: MonotonicTime
  let method: MeasurementMethod
  /// When the scenario's timeout expires.
  let deadline: MonotonicTime
  /// The write end of the target's standard input, if steps write to it.
  var input: Descriptor?
  /// Where the next `expect` starts its search.
  var searchPosition = OutputLog.Position()
  /// See ``Recording/settled``.
  var settled: ClosedRange<Duration>?
  var stopRequested: Duration?
  /// See ``Recording/listeners``.
  var listeners: [Readiness.Condition] = []
  private(set) var sentSignals: Set<Signal> = []
  /// How the main process ended; nil while it is alive, and if unknown.
  private(set) var status: EndEvidence.Status?
  /// When the end of the main process was seen.
  private(set) var endedAt: MonotonicTime?
  private let hasMainRule: Bool
  private let mayDetach: Bool
  /// The process that the started one left behind.
  private var daemon: Int32?
  /// When the main process was found to have vanished, with an unknown status.
  private var goneSince: MonotonicTime?
  /// Whether the leader was alive when the main process was last seen.
  private var leaderWasAlive = true
  private var nextMemberCheck = MonotonicTime(nanoseconds: 0)

  init(
    of scenario: Scenario,
    processTree: ProcessTree,
    sampler: Sampler,
    output: OutputChannel,
    marks: MarkList,
    instruments: Instruments,
    method: MeasurementMethod
  ) {
    self.instruments = instruments
    self.method = method
    self.processTree = processTree
    self.sampler = sampler
    self.output = output
    self.marks = marks
    start = processTree.startedAt
    deadline = start + scenario.timeout
    hasMainRule = scenario.target.main != nil
    mayDetach = scenario.ending == .steps
  }

  var hasEnded: Bool { endedAt != nil }

  /// Whether it ran already, so that it is not ended.
  var isAttached: Bool { processTree.attached.map { !$0.isOwn } ?? false }

  /// Whether what followed a target that ran already was killed; the target itself runs on.
  var isLost: Bool { isAttached && processTree.hasLostSupervisor }

  /// Whether a signal that the runner did not send ended it.
  var wasKilledByOthers: Bool {
    guard case .signaled(let signal, _)? = status else { return false }
    return !sentSignals.contains(signal)
  }

  /// The process that gets signals, and whose end is that of the target: the one that a rule names, or else the one that
  /// was started, or the daemon that it left behind; nil while unknown.
  var main: Int32? {
    hasMainRule ? sampler.mainProcess : daemon ?? processTree.leader
  }

  /// Whether the supervisor reports the end of ``main``, because it is the process that was started.
  var isMainReported: Bool { main == processTree.leader }

  /// Time since exec.
  var age: Duration { .now() - start }

  /// Updates the state from the process tree and the sampler.
  func refresh() {
    guard !hasEnded else { return }
    processTree.collect()
    let leader = processTree.ending(of: processTree.leader)
    if !hasMainRule {
      if let leader, daemon == nil { leaderEnded(with: leader) }
      if let daemon { refreshDaemon(daemon, leader: leader) }
    } else if let main = sampler.mainProcess {
      refreshDaemon(main, leader: leader)
    } else if let leader, leader != .exited(0) || processTree.isEmpty {
      end(with: leader, of: processTree.leader)
    }
    if !hasEnded, let gone = processTree.goneAt { endedAt = gone }
    if !hasEnded, processTree.hasLostSupervisor { endWithSupervisor() }
  }

  /// The end of the started process is that of the target, unless steps follow and it has left a daemon behind.
  private func leaderEnded(with status: WaitStatus) {
    daemon = mayDetach && status == .exited(0) ? processTree.oldestOrphan : nil
    leaderWasAlive = false
    if daemon == nil { end(with: status, of: processTree.leader) }
  }

  /// Sends a signal to the main process.
  ///
  /// - Returns: false if that process has ended.
  func send(_ signal: Signal) -> Bool {
    if signal == .kill { sampler.willKill() }
    guard let main, !hasEnded, processTree.send(signal, to: main) else { return false }
    sentSignals.insert(signal)
    return true
  }

  /// The evidence of the end; call it while the cgroup still exists.
  func evidence(_ action: EndEvidence.RunnerAction, _ report: SamplingReport) -> EndEvidence {
    var evidence = EndEvidence(
      status: status, runnerAction: action, sentSignals: sentSignals, lastLines: output.tail.lines
    )
    evidence.memory.mainProcess = main
    evidence.memory.processes = Set(report.processes.map(\.id))
    evidence.memory.lastResident = report.samples.last { $0.tree > .zero }?.tree
    if case .signaled(.kill, _)? = status, !sentSignals.contains(.kill), let main {
      evidence.killSender = killSender(of: main, since: start, report)
    }
    instruments.memoryWatch.complete(&evidence)
    return evidence
  }

  /// The processes that SIGKILL ended, with their senders and the limits of memory.
  func kills(_ report: SamplingReport, _ memory: MemoryEvidence) -> [KilledProcess] {
    report.kills.map { kill in
      var process = kill.process
      process.sender = killSender(of: process.id, since: start + .nanoseconds(kill.firstSeen), report)
      (process.limit, process.machine) = (memory.limit, Machine.memory)
      return process
    }
  }

  private func killSender(of pid: Int32, since: MonotonicTime, _ report: SamplingReport) -> KillSender? {
    guard let kill = KillWatch.shared?.kill(of: pid, after: since) else { return nil }
    let members = Set(report.processes.map(\.id))
    return KillSender(
      process: kill.isFromKernel ? nil : kill.sender, command: kill.isFromKernel ? nil : kill.command,
      isOfTarget: !kill.isFromKernel && members.contains(kill.sender))
  }
}

extension TargetRun {
  /// How long to wait for the status of a vanished process, which its own parent may have reaped.
  private static let statusGrace = Duration.seconds(1)
  private static let memberCheckInterval = Duration.milliseconds(50)

  /// Updates the state of a main process that is not the leader.
  ///
  /// If its own parent outlives it, that parent reaps it, and its status is unknown. In that case use the leader's
  /// status if the leader exits right after it, like a shell that waits for its last command.
  private func refreshDaemon(_ main: Int32, leader: WaitStatus?) {
    if let status = processTree.ending(of: main) {
      end(with: status, of: main)
    } else if let goneSince {
      if let leader, leaderWasAlive {
        end(with: leader, of: processTree.leader)
      } else if (goneSince + Self.statusGrace).hasPassed || processTree.isEmpty {
        endedAt = .now()
      }
    } else if nextMemberCheck.hasPassed {
      nextMemberCheck = .after(Self.memberCheckInterval)
      if processTree.members().contains(where: { $0.pid == main }) {
        leaderWasAlive = leader == nil
      } else {
        goneSince = .now()
      }
    }
  }

  /// Sets the end of a tree whose supervisor was killed: all its processes were killed, and no status is known.
  private func endWithSupervisor() {
    guard !isAttached else { return }
    status = .signaled(signal: .kill, coreDumped: false)
    endedAt = .now()
  }

  private func end(with status: WaitStatus, of pid: Int32) {
    self.status = EndEvidence.Status(status)
    endedAt = processTree.endTime(of: pid) ?? .now()
  }
}

extension EndEvidence.Status {
  init(_ status: WaitStatus) {
    switch status {
    case .exited(let code): self = .exited(code: Int(code))
    case .signaled(let signal, let coreDumped): self = .signaled(signal: Signal(number: signal), coreDumped: coreDumped)
    }
  }
}
