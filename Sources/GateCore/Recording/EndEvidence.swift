/// What is known of how a target's main process ended.
package struct EndEvidence: Sendable, Equatable {
  /// How a process ended, from wait(2).
  package enum Status: Sendable, Hashable, Codable {
    case exited(Int)
    case signaled(Signal, coreDumped: Bool)
  }

  /// What the runner did to end it.
  package enum RunnerAction: Sendable, Equatable {
    case none
    /// The scenario's stop rule was carried out.
    case stop
    /// A time ran out, and the target was ended then.
    case timeout(End.Timeout)
  }

  /// Why the target was never started.
  package var startFailure: End.Cause?
  /// nil where it is unknown, since the process's own parent took the status or the supervisor was killed.
  package var status: Status?
  package var runnerAction: RunnerAction
  /// Every signal that the runner sent to the main process, for whatever reason.
  package var sentSignals: Set<Signal>
  /// The last lines of its output.
  package var lastLines: [String]
  /// What is known of the OOM killer.
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
