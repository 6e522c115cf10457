/// How a repetition's target ended, with the evidence.
package struct End: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, CaseIterable, Codable {
    case exited, signaled, oom
    case allocationFailure = "allocation-failure"
    case trap, abort, crash, timeout, stopped
    case startFailed = "start-failed"
    case killed, unknown
    /// It ran already, and was left running.
    case running
  }

  package var kind: Kind
  package var code: Int?
  package var signal: Signal?
  /// The evidence for an end that a status alone does not prove.
  package var proof: Proof?
  /// Details of the end beyond its kind.
  package var cause: Cause?
  /// The number of processes in the tree that the OOM killer killed.
  package var oomKills: Int

  package init(
    _ kind: Kind,
    code: Int? = nil,
    signal: Signal? = nil,
    proof: Proof? = nil,
    cause: Cause? = nil,
    oomKills: Int = 0
  ) {
    self.kind = kind
    self.code = code
    self.signal = signal
    self.proof = proof
    self.cause = cause
    self.oomKills = oomKills
  }
}

extension End {
  package enum Cause: Sendable, Hashable, Codable {
    /// A setup command failed, so the target was not started.
    case setupFailed
    indirect case startFailed(problem: Failure.Problem)
    case memoryLimit(limit: MemoryLimit)
    case timeout(kind: Timeout, limitHits: LimitHits?)
    /// An exit code above 128, with which shells report that a child was killed by a signal (POSIX, 2.8.2 Exit Status
    /// for Commands).
    case signalOfChild(signal: Signal)
    /// The main process's parent collected its status (wait(2)).
    case statusTakenByParent
    case statusUnknown
    /// SIGKILL that neither the OOM killer nor the runner sent; if memory was near its limit without a rise of the
    /// kernel's counters, how near.
    case senderUnknown(nearLimit: LimitShare?)
    /// SIGKILL from this sender, which is not the OOM killer.
    case killedBy(sender: KillSender)
    case coreDumped
    /// The last fatal error that the Swift runtime printed.
    case fatalError(line: String)
  }

  /// The evidence for an end.
  package enum Proof: Sendable, Hashable, Codable {
    /// The kernel log's line about a kill.
    case kernelLog(line: String)
    /// `oom_kill` of the target's own memory cgroup, and its limit.
    case ownCgroup(kills: MemoryEvidence.Count, limit: Bytes?)
    /// `oom_kill` of a memory cgroup in which other programs ran as well.
    case sharedCgroup(kills: MemoryEvidence.Count)
    /// `oom_kill` of the machine, with the main process among the largest processes.
    case machine(kills: MemoryEvidence.Count)
    /// Only memory that was near its limit.
    case nearLimit(share: LimitShare)
    /// A line of the target's output about a failed allocation.
    case failedAllocation(line: String)
  }

  /// The memory limit that was hit.
  package enum MemoryLimit: Sendable, Hashable, Codable {
    /// The machine's memory.
    case machine
    /// The limit of a cgroup that is not visible here, or the machine's memory.
    case unknown
    /// The limit of an ancestor cgroup.
    case outerCgroup(limit: Bytes)
    /// The scenario's `memory-limit`.
    case own(limit: Bytes)
    /// Not the scenario's `memory-limit`, which was never hit, but one outside of it.
    case outside(own: Bytes)
  }

  /// How near memory was to its limit in the last sample.
  package struct LimitShare: Sendable, Hashable, Codable {
    /// Rounded down.
    package var percent: Int
    package var limit: Bytes

    package init(percent: Int, limit: Bytes) {
      self.percent = percent
      self.limit = limit
    }
  }

  /// How often a memory cgroup hit its limit.
  package struct LimitHits: Sendable, Hashable, Codable {
    package var count: Int64
    package var limit: Bytes?

    package init(count: Int64, limit: Bytes?) {
      self.count = count
      self.limit = limit
    }
  }

  /// The time limit that was exceeded.
  package enum Timeout: Sendable, Hashable, Codable {
    case notReady(within: Duration, last: ReadinessAnswer? = nil)
    case noMainProcess(rule: MainProcessRule, within: Duration)
    /// The scenario's timeout.
    case notEnded(within: Duration)
  }

  /// What the last attempt to find the target ready got.
  package enum ReadinessAnswer: Sendable, Hashable, Codable {
    case status(code: Int)
    /// The text is that of the transfer library.
    case noAnswer(reason: String)
    /// The command's end; it ended well once the target is ready.
    case command(status: EndEvidence.Status)
  }

  /// The rule for the main process, as in the project file.
  package enum MainProcessRule: Sendable, Hashable, Codable {
    case pidfile(path: String)
    case name(pattern: String)
  }
}
