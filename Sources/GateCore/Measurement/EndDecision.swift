/// What is known of how a target's main process ended.
package struct EndEvidence: Sendable, Equatable {
  /// What the kernel told of a process that has ended (wait(2)).
  package enum Status: Sendable, Equatable {
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

  package init(
    startError: String? = nil,
    status: Status? = nil,
    runnerAction: RunnerAction = .none,
    sentSignals: Set<Signal> = [],
    lastLines: [String] = []
  ) {
    self.startError = startError
    self.status = status
    self.runnerAction = runnerAction
    self.sentSignals = sentSignals
    self.lastLines = lastLines
  }
}

extension End {
  /// Names the end that the evidence shows; the first that fits counts.
  ///
  /// An end by a signal that the runner sent is `stopped`; by any other one it is the target's own fate, even while
  /// the target was being stopped: a crash in a handler of SIGTERM is a crash.
  package init(deciding evidence: EndEvidence) {
    if let problem = evidence.startError {
      self.init(.startFailed, detail: problem)
      return
    }
    if case .timeout(let detail) = evidence.runnerAction {
      self.init(.timeout, detail: detail)
      return
    }
    switch evidence.status {
    case .exited(let code) where evidence.runnerAction == .stop:
      self.init(.stopped, code: code)
    case .exited(let code):
      self.init(.exited, code: code, detail: Self.shellHint(for: code))
    case .signaled(let signal, _) where evidence.sentSignals.contains(signal):
      self.init(.stopped, signal: signal)
    case .signaled(let signal, let coreDumped):
      self.init(ownSignal: signal, coreDumped: coreDumped, lastLines: evidence.lastLines)
    case nil where evidence.runnerAction == .stop:
      self.init(.stopped, detail: "its exit status went to its own parent")
    case nil:
      self.init(.unknown, detail: "its exit status was not seen")
    }
  }

  /// Names the end by a signal that the runner did not send.
  private init(ownSignal signal: Signal, coreDumped: Bool, lastLines: [String]) {
    let core = coreDumped ? "core dumped" : nil
    switch signal {
    case .kill:
      self.init(.killed, signal: signal, detail: "killed by an unknown hand (SIGKILL)")
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
