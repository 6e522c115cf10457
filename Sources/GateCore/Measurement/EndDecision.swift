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

/// What the kernel counted and said of kills for want of memory, while a repetition ran.
package struct MemoryEvidence: Sendable, Equatable {
  /// A counter that only rises, before the start and after the end.
  package struct Count: Sendable, Equatable {
    package var before: Int64
    package var after: Int64

    package init(before: Int64, after: Int64) {
      self.before = before
      self.after = after
    }

    /// By how much it has risen.
    package var rise: Int64 { max(0, after - before) }
  }

  /// A line of the kernel's log that tells of one kill.
  package struct LoggedKill: Sendable, Equatable {
    package var pid: Int32
    /// Whether the limit of a cgroup was the cause (`CONSTRAINT_MEMCG`), and not the machine's memory.
    package var isOfCgroup: Bool
    /// The line as it stands in the log.
    package var line: String

    package init(pid: Int32, isOfCgroup: Bool, line: String) {
      self.pid = pid
      self.isOfCgroup = isOfCgroup
      self.line = line
    }
  }

  /// The main process; nil where it was never known.
  package var mainProcess: Int32?
  /// Every process of the tree that was seen.
  package var processes: Set<Int32>
  /// Kills in the target's own cgroup, in which nothing else ran; nil where it had none.
  package var ownKills: Count?
  /// Kills in the cgroup that the target shared with others (the runner's own); nil where it does not tell.
  package var sharedKills: Count?
  /// Kills on the whole machine (`oom_kill` of `/proc/vmstat`).
  package var machineKills: Count?
  /// How often the own cgroup ran into its limit (v1 `memory.failcnt`, v2 `max` of `memory.events`).
  package var limitHits: Count?
  /// Empty also where the log may not be read.
  package var log: [LoggedKill]
  /// The nearest limit of a cgroup at or above the target; nil where there is none.
  package var limit: Bytes?
  /// Whether that limit is the scenario's own `memory-limit`.
  package var limitIsOwn: Bool
  /// The tree's memory (or the main process's, where that is all that is known) at the last reading.
  package var lastResident: Bytes?

  package init() {
    processes = []
    log = []
    limitIsOwn = false
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
