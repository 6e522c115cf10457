import GateCore
import LinuxSystem

/// A target that was started, from its exec to its end; belongs to the thread that plays the scenario.
final class TargetRun {
  let processTree: ProcessTree
  let sampler: Sampler
  let output: OutputChannel
  let marks: MarkList
  let instruments: Instruments
  /// The instant of exec.
  let start: MonotonicTime
  /// When the scenario's timeout passes.
  let deadline: MonotonicTime
  /// The writer of the target's standard input, where steps write to it.
  var input: Descriptor?
  /// Where the next `expect` begins to search.
  var searchPosition = OutputLog.Position()
  var stopRequested: Duration?
  private(set) var sentSignals: Set<Signal> = []
  /// How the main process ended; nil while it lives, and where that is unknown.
  private(set) var status: EndEvidence.Status?
  /// When the end of the main process was seen.
  private(set) var endedAt: MonotonicTime?
  private let hasMainRule: Bool
  /// When the main process was seen to be gone, its status unknown.
  private var goneSince: MonotonicTime?
  /// Whether the leader lived when the main process was last seen.
  private var leaderLivedWithMain = true
  private var nextMemberCheck = MonotonicTime(nanoseconds: 0)

  init(
    of scenario: Scenario,
    processTree: ProcessTree,
    sampler: Sampler,
    output: OutputChannel,
    marks: MarkList,
    instruments: Instruments
  ) {
    self.instruments = instruments
    self.processTree = processTree
    self.sampler = sampler
    self.output = output
    self.marks = marks
    start = processTree.startedAt
    deadline = start + scenario.timeout
    hasMainRule = scenario.target.main != nil
  }

  var hasEnded: Bool { endedAt != nil }

  /// Whether it was ended by a signal that the runner did not send.
  var wasKilledByOthers: Bool {
    guard case .signaled(let signal, _)? = status else { return false }
    return !sentSignals.contains(signal)
  }

  /// The main process; nil while it is not known yet.
  var main: Int32? {
    hasMainRule ? sampler.mainProcess : processTree.leader
  }

  /// Time since exec.
  var age: Duration { .now() - start }

  /// Takes in what has become known of the processes.
  func refresh() {
    guard !hasEnded else { return }
    processTree.collect()
    let leader = processTree.ending(of: processTree.leader)
    if !hasMainRule {
      if let leader { end(with: leader, of: processTree.leader) }
    } else if let main = sampler.mainProcess {
      refreshDaemon(main, leader: leader)
    } else if let leader, leader != .exited(0) || processTree.isEmpty {
      end(with: leader, of: processTree.leader)
    }
    if !hasEnded, processTree.hasLostSupervisor { endWithSupervisor() }
  }

  /// Sends a signal to the main process.
  ///
  /// - Returns: false where that process has ended.
  func send(_ signal: Signal) -> Bool {
    guard let main, !hasEnded, processTree.send(signal, to: main) else { return false }
    sentSignals.insert(signal)
    return true
  }

  /// All that is known of the end; to be asked for while the cgroup is still there.
  func evidence(_ action: EndEvidence.RunnerAction, _ report: SamplingReport) -> EndEvidence {
    var evidence = EndEvidence(
      status: status, runnerAction: action, sentSignals: sentSignals, lastLines: output.tail.lines
    )
    evidence.memory.mainProcess = main
    evidence.memory.processes = Set(report.processes.map(\.id))
    evidence.memory.lastResident = report.samples.last { $0.tree > .zero }?.tree
    instruments.memoryWatch.complete(&evidence)
    return evidence
  }
}

extension TargetRun {
  /// How long a status may take after the process has gone; its own parent may have taken it.
  private static let statusGrace = Duration.seconds(1)
  private static let memberCheckPause = Duration.milliseconds(50)

  /// Takes in the state of a main process that is not the leader.
  ///
  /// It is the supervisor's child only where its own parent ended before it: else that parent takes the status, and
  /// all that is seen is that the process has gone. The leader's status, where the leader follows at once, stands
  /// for it then, as with a shell that waits for its last command.
  private func refreshDaemon(_ main: Int32, leader: WaitStatus?) {
    if let status = processTree.ending(of: main) {
      end(with: status, of: main)
    } else if let goneSince {
      if let leader, leaderLivedWithMain {
        end(with: leader, of: processTree.leader)
      } else if (goneSince + Self.statusGrace).hasPassed || processTree.isEmpty {
        endedAt = .now()
      }
    } else if nextMemberCheck.hasPassed {
      nextMemberCheck = .after(Self.memberCheckPause)
      if processTree.members().contains(where: { $0.pid == main }) {
        leaderLivedWithMain = leader == nil
      } else {
        goneSince = .now()
      }
    }
  }

  /// Ends a tree whose supervisor was killed: the kernel and the runner have killed all of it, and no more is known.
  private func endWithSupervisor() {
    status = .signaled(.kill, coreDumped: false)
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
    case .exited(let code): self = .exited(Int(code))
    case .signaled(let signal, let coreDumped): self = .signaled(Signal(number: signal), coreDumped: coreDumped)
    }
  }
}
