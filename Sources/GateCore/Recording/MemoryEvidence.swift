/// The kernel's counters and log lines about OOM kills during a repetition.
package struct MemoryEvidence: Sendable, Equatable {
  /// A monotonic counter, before the start and after the end.
  package struct Count: Sendable, Hashable, Codable {
    package var before: Int64
    package var after: Int64

    package init(before: Int64, after: Int64) {
      self.before = before
      self.after = after
    }

    /// The increase.
    package var rise: Int64 { max(0, after - before) }
  }

  /// The kernel log's line about the kill of a process in the tree.
  package struct LoggedKill: Sendable, Equatable {
    /// nil if the log uses PIDs of another namespace (pid_namespaces(7)) and the line names the target's own cgroup.
    package var pid: Int32?
    /// Whether a cgroup's limit was the cause (`CONSTRAINT_MEMCG`), rather than the machine's memory.
    package var isOfCgroup: Bool
    /// The line as logged.
    package var line: String

    package init(pid: Int32?, isOfCgroup: Bool, line: String) {
      self.pid = pid
      self.isOfCgroup = isOfCgroup
      self.line = line
    }
  }

  /// The main process; nil if unknown.
  package var mainProcess: Int32?
  /// All processes that were seen in the tree.
  package var processes: Set<Int32>
  /// Kills in the target's own cgroup, which contains nothing else; nil without an own cgroup.
  package var ownKills: Count?
  /// Kills in the cgroup that the target shares with others (the runner's own); nil without such a counter.
  package var sharedKills: Count?
  /// Kills on the whole machine (`oom_kill` of `/proc/vmstat`).
  package var machineKills: Count?
  /// The number of processes on the machine that were larger than the main process; nil if not counted.
  package var largerProcesses: Int?
  /// How often the own cgroup hit its limit (v1 `memory.failcnt`, v2 `max` of `memory.events`).
  package var limitHits: Count?
  /// Also empty if the log cannot be read.
  package var log: [LoggedKill]
  /// The lowest limit of a cgroup at or above the target; nil if there is none.
  package var limit: Bytes?
  /// Whether that limit is the scenario's own `memory-limit`.
  package var limitIsOwn: Bool
  /// The tree's memory (or only the main process's, if nothing else is known) in the last sample.
  package var lastResident: Bytes?

  package init() {
    processes = []
    log = []
    limitIsOwn = false
  }
}

// MARK: - What it shows

extension MemoryEvidence {
  /// The number of processes in the tree that the OOM killer certainly killed.
  var provenKills: Int {
    max(Int(ownKills?.rise ?? 0), log.count)
  }

  /// The evidence that processes in the tree were OOM-killed.
  var proofOfKills: End.Proof? {
    guard let ownKills, ownKills.rise > 0 else { return log.last.map { .kernelLog(line: $0.line) } }
    return .ownCgroup(kills: ownKills, limit: limit)
  }

  /// The evidence that the OOM killer sent an unexplained SIGKILL to the main process, if any.
  ///
  /// The counter closest to the target decides: it would have risen. The kill is inferred from the limit only if no
  /// counter is known; the kernel's counters were added in Linux 4.13.
  var proofOfKillOfMain: End.Proof? {
    if let ownKills { return hasUnloggedKill(ownKills) ? .ownCgroup(kills: ownKills, limit: limit) : nil }
    if let sharedKills { return hasUnloggedKill(sharedKills) ? .sharedCgroup(kills: sharedKills) : nil }
    if let machineKills {
      let isLarge = largerProcesses.map { $0 < Self.fewLarger } ?? false
      return isLarge && hasUnloggedKill(machineKills) ? .machine(kills: machineKills) : nil
    }
    return nearLimit.map { .nearLimit(share: $0) }
  }

  /// The kernel kills the largest process first, except protected ones (proc_pid_oom_score_adj(5)).
  private static let fewLarger = 3

  /// Whether there were more kills than the log has for other processes of the tree.
  private func hasUnloggedKill(_ count: Count) -> Bool {
    count.rise > log.count { $0.pid != nil && $0.pid != mainProcess }
  }

  var limitMet: End.MemoryLimit {
    if let logged = log.last, !logged.isOfCgroup { return .machine }
    guard let limit else { return .unknown }
    guard limitIsOwn else { return .outerCgroup(limit: limit) }
    // If the own limit was never hit, an outer limit caused the kill.
    return limitHits?.rise == 0 ? .outside(own: limit) : .own(limit: limit)
  }

  /// How near memory was to its limit, from 95 % on; nil below, or if one of the two is unknown.
  var nearLimit: End.LimitShare? {
    guard let limit, let lastResident, limit > .zero else { return nil }
    let percent = Double(lastResident.count) / Double(limit.count) * 100
    return percent >= 95 ? End.LimitShare(percent: Int(percent), limit: limit) : nil
  }

  /// Page cache alone hit a limit 265 times without harm, a program that could not continue without more memory 4.3
  /// million times (Linux 6.18, cgroup v1).
  private static let manyHits: Int64 = 1000

  /// The limit hits, if they are so many that they may explain a timeout.
  var manyLimitHits: End.LimitHits? {
    guard let limitHits, limitHits.rise >= Self.manyHits else { return nil }
    return End.LimitHits(count: limitHits.rise, limit: limit)
  }
}
