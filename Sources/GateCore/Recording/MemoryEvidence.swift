/// What the kernel has counted and logged of its OOM killer while a repetition ran.
package struct MemoryEvidence: Sendable, Equatable {
  /// A counter that only rises, before the start and after the end.
  package struct Count: Sendable, Hashable, Codable {
    package var before: Int64
    package var after: Int64

    package init(before: Int64, after: Int64) {
      self.before = before
      self.after = after
    }

    /// By how much it has risen.
    package var rise: Int64 { max(0, after - before) }
  }

  /// A line of the kernel's log on the kill of one process of the tree.
  package struct LoggedKill: Sendable, Equatable {
    /// nil: the log numbers processes in another way than the runner (pid_namespaces(7)), and the line names the
    /// target's own cgroup.
    package var pid: Int32?
    /// Whether the limit of a cgroup was the cause (`CONSTRAINT_MEMCG`), and not the machine's memory.
    package var isOfCgroup: Bool
    /// The line as it stands in the log.
    package var line: String

    package init(pid: Int32?, isOfCgroup: Bool, line: String) {
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
  /// Kills in the cgroup that the target would share with others (the runner's own); nil where it has no such counter.
  package var sharedKills: Count?
  /// Kills on the whole machine (`oom_kill` of `/proc/vmstat`).
  package var machineKills: Count?
  /// How many processes of the machine were larger than the main process; nil where they were not counted.
  package var largerProcesses: Int?
  /// How often the own cgroup ran into its limit (v1 `memory.failcnt`, v2 `max` of `memory.events`).
  package var limitHits: Count?
  /// Empty also where the log may not be read.
  package var log: [LoggedKill]
  /// The lowest limit of a cgroup at or above the target; nil where there is none.
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

// MARK: - What it shows

extension MemoryEvidence {
  /// How many processes of the tree the OOM killer has killed for certain.
  var provenKills: Int {
    max(Int(ownKills?.rise ?? 0), log.count)
  }

  /// What shows that processes of the tree were killed.
  var proofOfKills: End.Proof? {
    guard let ownKills, ownKills.rise > 0 else { return log.last.map { .kernelLog(line: $0.line) } }
    return .ownCgroup(kills: ownKills, limit: limit)
  }

  /// What shows that the OOM killer sent an unexplained SIGKILL to the main process; nil where nothing does.
  ///
  /// Of the counters the one that is nearest to the target decides: it would have risen. A guess by the limit is made
  /// only where no counter is known; those of the kernel came with Linux 4.13.
  var proofOfKillOfMain: End.Proof? {
    if let ownKills { return hasUnloggedKill(ownKills) ? .ownCgroup(kills: ownKills, limit: limit) : nil }
    if let sharedKills { return hasUnloggedKill(sharedKills) ? .sharedCgroup(kills: sharedKills) : nil }
    if let machineKills {
      let isLarge = largerProcesses.map { $0 < Self.fewLarger } ?? false
      return isLarge && hasUnloggedKill(machineKills) ? .machine(kills: machineKills) : nil
    }
    return nearLimit.map { .nearLimit($0) }
  }

  /// The kernel kills the largest process first, save for what is protected (proc_pid_oom_score_adj(5)).
  private static let fewLarger = 3

  /// Whether there were more kills than the log has of other processes of the tree.
  private func hasUnloggedKill(_ count: Count) -> Bool {
    count.rise > log.count { $0.pid != nil && $0.pid != mainProcess }
  }

  var limitMet: End.MemoryLimit {
    if let logged = log.last, !logged.isOfCgroup { return .machine }
    guard let limit else { return .unknown }
    guard limitIsOwn else { return .outerCgroup(limit) }
    // A kill although the own limit was never met came from further up.
    return limitHits?.rise == 0 ? .outside(own: limit) : .own(limit)
  }

  /// How near the memory was to its limit, from 95 % on; nil below, and where one of the two is not known.
  var nearLimit: End.LimitShare? {
    guard let limit, let lastResident, limit > .zero else { return nil }
    let percent = Double(lastResident.count) / Double(limit.count) * 100
    return percent >= 95 ? End.LimitShare(percent: Int(percent), limit: limit) : nil
  }

  /// Page cache alone was seen to hit a limit 265 times without harm, a program that could not go on without more
  /// memory 4.3 million times (Linux 6.18, cgroup v1).
  private static let manyHits: Int64 = 1000

  /// That the limit was hit so often that it may be why a program did not end in time.
  var manyLimitHits: End.LimitHits? {
    guard let limitHits, limitHits.rise >= Self.manyHits else { return nil }
    return End.LimitHits(count: limitHits.rise, limit: limit)
  }
}
