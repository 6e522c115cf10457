/// The evidence on how a target's main process ended.
package struct EndEvidence: Sendable, Equatable {
  /// How a process ended, from wait(2).
  package enum Status: Sendable, Hashable, Codable {
    case exited(code: Int)
    case signaled(signal: Signal, coreDumped: Bool)

    /// Whether a fault of its own ended it, as opposed to a signal that another process sends to end it.
    package var isCrash: Bool {
      guard case .signaled(let signal, _) = self else { return false }
      return [.ill, .trap, .abrt, .bus, .fpe, .segv, .sys].contains(signal)
    }

    /// Whether it crashed, or exited with another code than 0.
    package var isFailure: Bool {
      if case .exited(let code) = self { code != 0 } else { isCrash }
    }
  }

  /// What the runner did to end it.
  package enum RunnerAction: Sendable, Equatable {
    case none
    /// It applied the scenario's stop rule.
    case stop
    /// It let go of a target that ran already.
    case detach
    /// It ended the target after a timeout.
    case timeout(End.Timeout)
  }

  /// Why the target was not started.
  package var startFailure: End.Cause?
  /// nil if unknown, because the process's own parent collected the status or the supervisor was killed.
  package var status: Status?
  package var runnerAction: RunnerAction
  /// All signals that the runner sent to the main process, for whatever reason.
  package var sentSignals: Set<Signal>
  /// The last lines of its output.
  package var lastLines: [String]
  /// Who sent SIGKILL to the main process; nil if the kernel does not tell.
  package var killSender: KillSender?
  /// The evidence on OOM kills.
  package var memory: MemoryEvidence

  package init(
    startFailure: End.Cause? = nil,
    status: Status? = nil,
    runnerAction: RunnerAction = .none,
    sentSignals: Set<Signal> = [],
    lastLines: [String] = [],
    memory: MemoryEvidence = MemoryEvidence()
  ) {
    self.startFailure = startFailure
    self.status = status
    self.runnerAction = runnerAction
    self.sentSignals = sentSignals
    self.lastLines = lastLines
    self.memory = memory
  }
}
