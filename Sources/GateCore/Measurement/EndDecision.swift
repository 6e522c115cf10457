/// What is known of how a target's main process ended.
package struct EndEvidence: Sendable, Equatable {
  /// What the kernel told of a process that has ended (wait(2)).
  package enum Status: Sendable, Equatable, Codable {
    case exited(Int)
    case signaled(Signal, coreDumped: Bool)
  }

  /// What the runner did to end it.
  package enum RunnerAction: Sendable, Equatable {
    case none
    /// The scenario's stop rule was carried out.
    case stop
    /// A time ran out, in the words of the detail; the target was ended then.
    case timeout(String)
  }

  /// Why the target was never started.
  package var startError: String?
  /// nil: nobody told, since the process's own parent took the status or the runner's helper was killed.
  package var status: Status?
  package var runnerAction: RunnerAction
  /// Every signal that the runner sent to the main process, for whatever reason.
  package var sentSignals: Set<Signal>
  /// The last lines of its output.
  package var lastLines: [String]
  /// What is known of kills for want of memory.
  package var memory: MemoryEvidence

  package init(
    startError: String? = nil,
    status: Status? = nil,
    runnerAction: RunnerAction = .none,
    sentSignals: Set<Signal> = [],
    lastLines: [String] = [],
    memory: MemoryEvidence = MemoryEvidence()
  ) {
    self.startError = startError
    self.status = status
    self.runnerAction = runnerAction
    self.sentSignals = sentSignals
    self.lastLines = lastLines
    self.memory = memory
  }
}

extension End {
  /// Names the end that the evidence shows; the first that fits counts.
  ///
  /// A kill for want of memory that the kernel's log tells of the main process counts before all else, even where the
  /// runner sent a SIGKILL later. Otherwise an end by a signal that the runner sent is `stopped`; by any other one it
  /// is the target's own fate, even while the target was being stopped: a crash in a handler of SIGTERM is a crash.
  ///
  /// Kills of other processes of the tree are told with whatever end the main process had.
  package init(deciding evidence: EndEvidence) {
    self = Self.ofMainProcess(evidence)
    oomKills = evidence.memory.provenKills
    guard oomKills > 0, kind != .oom else { return }
    let (processes, were) = oomKills == 1 ? ("process", "was") : ("processes", "were")
    let sentence = "\(oomKills) \(processes) of the tree \(were) killed for want of memory"
    detail = detail.map { "\($0); \(sentence)" } ?? sentence
    proof = proof ?? evidence.memory.proofOfKills
  }

  private static func ofMainProcess(_ evidence: EndEvidence) -> End {
    if let problem = evidence.startError { return End(.startFailed, detail: problem) }
    if let line = evidence.loggedKillOfMain {
      return End(.oom, signal: .kill, proof: line, detail: evidence.memory.cause)
    }
    if case .timeout(let detail) = evidence.runnerAction {
      return End(.timeout, detail: [detail, evidence.memory.wordsOnHits].compactMap(\.self).joined(separator: "; "))
    }
    switch evidence.status {
    case .exited(let code) where evidence.runnerAction == .stop: return End(.stopped, code: code)
    case .exited(let code): return End(.exited, code: code, detail: shellHint(for: code))
    case .signaled(let signal, _) where evidence.sentSignals.contains(signal): return End(.stopped, signal: signal)
    case .signaled(.kill, _): return End(unexplainedKill: evidence.memory)
    case .signaled(let signal, let coreDumped):
      return End(ownSignal: signal, coreDumped: coreDumped, lastLines: evidence.lastLines)
    case nil where evidence.runnerAction == .stop:
      return End(.stopped, detail: "its exit status went to its own parent")
    case nil: return End(.unknown, detail: "its exit status was not seen")
    }
  }

  /// Names the end by a SIGKILL that the runner did not send, and that no line of the kernel's log explains.
  private init(unexplainedKill memory: MemoryEvidence) {
    if let proof = memory.proofOfKillOfMain {
      self.init(.oom, signal: .kill, proof: proof, detail: memory.cause)
    } else {
      let hand = "killed by an unknown hand (SIGKILL)"
      let doubt = memory.nearLimit.map { "\(hand), with \($0), though the kernel tells of no kill for want of memory" }
      self.init(.killed, signal: .kill, detail: doubt ?? hand)
    }
  }

  /// Names the end by a signal that the runner did not send.
  private init(ownSignal signal: Signal, coreDumped: Bool, lastLines: [String]) {
    let core = coreDumped ? "core dumped" : nil
    switch signal {
    case .abrt:
      if let proof = lastLines.last(where: Self.tellsOfFailedAllocation) {
        self.init(.allocationFailure, signal: signal, proof: proof)
      } else {
        self.init(.abort, signal: signal, detail: core)
      }
    case .ill, .trap:
      self.init(.trap, signal: signal, detail: lastLines.last { $0.contains("Fatal error:") } ?? core)
    case .segv, .bus, .fpe, .sys:
      self.init(.crash, signal: signal, detail: core)
    default:
      self.init(.signaled, signal: signal)
    }
  }

  /// Whether the line is the Swift runtime's `failed to allocate 10485792 bytes`, said before it aborts.
  private static func tellsOfFailedAllocation(_ line: String) -> Bool {
    guard let words = line.firstRange(of: "failed to allocate ") else { return false }
    let rest = line[words.upperBound...]
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    return !digits.isEmpty && rest.dropFirst(digits.count).hasPrefix(" bytes")
  }

  /// What an exit code above 128 means by the custom of shells (POSIX, 2.8.2 Exit Status for Commands).
  private static func shellHint(for code: Int) -> String? {
    let fatal: [Signal] = [.hup, .int, .ill, .trap, .abrt, .bus, .fpe, .kill, .segv, .term, .sys]
    guard let signal = fatal.first(where: { Int($0.number) + 128 == code }) else { return nil }
    return "by a shell's custom this means that a child was ended by SIG\(signal.name)"
  }
}

extension EndEvidence {
  /// The line of the kernel's log that tells of the main process's kill; nil where it ended in another way.
  fileprivate var loggedKillOfMain: String? {
    switch status {
    case .signaled(.kill, _), nil: memory.log.last { $0.pid != nil && $0.pid == memory.mainProcess }?.line
    default: nil
    }
  }
}
