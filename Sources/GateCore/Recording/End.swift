/// How a repetition's target ended, and what shows it.
package struct End: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, CaseIterable, Codable {
    case exited, signaled, oom
    case allocationFailure = "allocation-failure"
    case trap, abort, crash, timeout, stopped
    case startFailed = "start-failed"
    case killed, unknown
  }

  package var kind: Kind
  package var code: Int?
  package var signal: Signal?
  /// The evidence for an end that a status alone does not show.
  package var proof: Proof?
  /// What is known of the end beyond its kind.
  package var cause: Cause?
  /// How many processes of the tree the kernel's OOM killer has killed.
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

  /// Result files have the texts of both as `proof` and `detail`.
  private enum CodingKeys: String, CodingKey {
    case kind, code, signal
    case proof = "evidence"
    case cause, oomKills
  }
}

extension End {
  package enum Cause: Sendable, Hashable, Codable {
    /// A command of the setup failed, so that the target was not started.
    case setupFailed
    indirect case startFailed(Failure.Problem)
    case memoryLimit(MemoryLimit)
    case timeout(Timeout, limitHits: LimitHits?)
    /// An exit code above 128: shells report so that a child was ended by a signal (POSIX, 2.8.2 Exit Status for
    /// Commands).
    case signalOfChild(Signal)
    /// The parent of the main process has taken its status (wait(2)).
    case statusTakenByParent
    case statusUnknown
    /// A SIGKILL that neither the OOM killer nor the runner sent; how near the memory was to its limit, where it was
    /// near, though no counter of the kernel has risen.
    case senderUnknown(nearLimit: LimitShare?)
    case coreDumped
    /// The last fatal error that the Swift runtime printed.
    case fatalError(line: String)
  }

  /// What shows an end.
  package enum Proof: Sendable, Hashable, Codable {
    /// The line of the kernel's log on a kill.
    case kernelLog(line: String)
    /// `oom_kill` of the target's own memory cgroup, and the limit of that.
    case ownCgroup(kills: MemoryEvidence.Count, limit: Bytes?)
    /// `oom_kill` of a memory cgroup in which other programs ran too.
    case sharedCgroup(kills: MemoryEvidence.Count)
    /// `oom_kill` of the machine, on which the main process was one of the largest.
    case machine(kills: MemoryEvidence.Count)
    /// Nothing but a memory that was near its limit.
    case nearLimit(LimitShare)
    /// A line of the target's output on an allocation that failed.
    case failedAllocation(line: String)
  }

  /// Which limit of memory was met.
  package enum MemoryLimit: Sendable, Hashable, Codable {
    /// The machine's whole memory.
    case machine
    /// That of a cgroup that is not visible here, or the machine's memory.
    case unknown
    /// That of a cgroup around the target.
    case outerCgroup(Bytes)
    /// The scenario's `memory-limit`.
    case own(Bytes)
    /// Not the scenario's `memory-limit`, which was never met, but one outside of it.
    case outside(own: Bytes)
  }

  /// How near a memory was to its limit at the last reading.
  package struct LimitShare: Sendable, Hashable, Codable {
    /// Rounded down.
    package var percent: Int
    package var limit: Bytes

    package init(percent: Int, limit: Bytes) {
      self.percent = percent
      self.limit = limit
    }
  }

  /// How often a memory cgroup has met its limit.
  package struct LimitHits: Sendable, Hashable, Codable {
    package var count: Int64
    package var limit: Bytes?

    package init(count: Int64, limit: Bytes?) {
      self.count = count
      self.limit = limit
    }
  }

  /// Which time ran out.
  package enum Timeout: Sendable, Hashable, Codable {
    case notReady(within: Duration)
    case noMainProcess(MainProcessRule, within: Duration)
    /// The scenario's own timeout.
    case notEnded(within: Duration)
  }

  /// The rule that names the main process, as the project file has it.
  package enum MainProcessRule: Sendable, Hashable, Codable {
    case pidfile(String)
    case name(pattern: String)
  }
}
