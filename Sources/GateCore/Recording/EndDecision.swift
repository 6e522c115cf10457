extension End {
  /// Decides the end from the evidence; the first rule that applies counts.
  ///
  /// A logged OOM kill of the main process takes precedence, even if the runner sent SIGKILL later. Otherwise an end by
  /// a signal that the runner sent is `stopped`; an end by any other signal is the target's own, even while it was
  /// being stopped: a crash in a SIGTERM handler is a crash.
  ///
  /// Kills of other processes in the tree are counted whatever the main process's end.
  package init(deciding evidence: EndEvidence) {
    self = Self.ofMainProcess(evidence)
    oomKills = evidence.memory.provenKills
    if oomKills > 0, kind != .oom { proof = proof ?? evidence.memory.proofOfKills }
  }

  private static func ofMainProcess(_ evidence: EndEvidence) -> End {
    if let cause = evidence.startFailure { return End(.startFailed, cause: cause) }
    if let line = evidence.loggedKillOfMain {
      return End(
        .oom, signal: .kill, proof: .kernelLog(line: line), cause: .memoryLimit(limit: evidence.memory.limitMet))
    }
    if case .timeout(let timeout) = evidence.runnerAction {
      return End(.timeout, cause: .timeout(kind: timeout, limitHits: evidence.memory.manyLimitHits))
    }
    switch evidence.status {
    case .exited(let code) where evidence.signalMeant(by: code) != nil:
      return End(.stopped, code: code, signal: evidence.signalMeant(by: code))
    case .exited(let code) where evidence.runnerAction == .stop: return End(.stopped, code: code)
    case .exited(let code): return End(.exited, code: code, cause: signalOfChild(for: code))
    case .signaled(let signal, _) where evidence.sentSignals.contains(signal): return End(.stopped, signal: signal)
    case .signaled(.kill, _): return End(unexplainedKill: evidence.memory, by: evidence.killSender)
    case .signaled(let signal, let coreDumped):
      return End(ownSignal: signal, coreDumped: coreDumped, lastLines: evidence.lastLines)
    case nil where evidence.runnerAction == .detach: return End(.running)
    case nil where evidence.runnerAction == .stop: return End(.stopped, cause: .statusTakenByParent)
    case nil: return End(.unknown, cause: .statusUnknown)
    }
  }

  /// The end by a SIGKILL that the runner did not send and that the kernel log does not explain.
  private init(unexplainedKill memory: MemoryEvidence, by sender: KillSender?) {
    if let sender, sender.process != nil {
      self.init(.killed, signal: .kill, cause: .killedBy(sender: sender))
    } else if let proof = memory.proofOfKillOfMain {
      self.init(.oom, signal: .kill, proof: proof, cause: .memoryLimit(limit: memory.limitMet))
    } else if let sender {
      self.init(.killed, signal: .kill, cause: .killedBy(sender: sender))
    } else {
      self.init(.killed, signal: .kill, cause: .senderUnknown(nearLimit: memory.nearLimit))
    }
  }

  /// The end by a signal that the runner did not send.
  private init(ownSignal signal: Signal, coreDumped: Bool, lastLines: [String]) {
    let core: Cause? = coreDumped ? .coreDumped : nil
    switch signal {
    case .abrt:
      if let line = lastLines.last(where: Self.isFailedAllocation) {
        self.init(.allocationFailure, signal: signal, proof: .failedAllocation(line: line))
      } else {
        self.init(.abort, signal: signal, cause: core)
      }
    case .ill, .trap:
      // text from outside: the Swift runtime
      let line = lastLines.last { $0.contains("Fatal error:") }
      self.init(.trap, signal: signal, cause: line.map { .fatalError(line: $0) } ?? core)
    case .segv, .bus, .fpe, .sys:
      self.init(.crash, signal: signal, cause: core)
    default:
      self.init(.signaled, signal: signal)
    }
  }

  /// Whether the line is the Swift runtime's `failed to allocate 10485792 bytes`, printed before it aborts.
  private static func isFailedAllocation(_ line: String) -> Bool {
    line.contains(/failed to allocate [0-9]+ bytes/)
  }

  private static func signalOfChild(for code: Int) -> Cause? {
    let fatal: [Signal] = [.hup, .int, .ill, .trap, .abrt, .bus, .fpe, .kill, .segv, .term, .sys]
    return fatal.first { Int($0.number) + 128 == code }.map { .signalOfChild(signal: $0) }
  }
}

extension EndEvidence {
  /// The signal of the runner that the main process handled and then named by its exit code, as shells and the JVM do.
  fileprivate func signalMeant(by code: Int) -> Signal? {
    sentSignals.first { Int($0.number) + 128 == code }
  }

  /// The kernel log's line about the main process's kill, unless it ended in another way.
  fileprivate var loggedKillOfMain: String? {
    switch status {
    case .signaled(.kill, _), nil: memory.log.last { $0.pid != nil && $0.pid == memory.mainProcess }?.line
    default: nil
    }
  }
}
