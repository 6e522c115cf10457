/// What the kernel counted and said of kills for want of memory, while a repetition ran.
package struct MemoryEvidence: Sendable, Equatable {
  /// A counter that only rises, before the start and after the end.
  package struct Count: Sendable, Equatable, CustomStringConvertible {
    package var before: Int64
    package var after: Int64

    package init(before: Int64, after: Int64) {
      self.before = before
      self.after = after
    }

    /// By how much it has risen.
    package var rise: Int64 { max(0, after - before) }

    package var description: String { "\(before) → \(after)" }
  }

  /// A line of the kernel's log that tells of the kill of one process of the tree.
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
  /// Kills in the cgroup that the target would share with others (the runner's own); nil where it does not tell.
  package var sharedKills: Count?
  /// Kills on the whole machine (`oom_kill` of `/proc/vmstat`).
  package var machineKills: Count?
  /// How many processes of the machine were larger than the main process; nil where that was of no interest.
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
  /// How many processes of the tree the kernel killed for certain.
  var provenKills: Int {
    max(Int(ownKills?.rise ?? 0), log.count)
  }

  /// What shows that processes of the tree were killed.
  var proofOfKills: String? {
    guard let ownKills, ownKills.rise > 0 else { return log.last?.line }
    return words(on: ownKills)
  }

  /// What shows that an unexplained SIGKILL of the main process was for want of memory; nil where nothing does.
  ///
  /// Of the counters the one that is nearest to the target decides: it would have risen. A guess by the limit is left
  /// for where no counter is known; those of the kernel came with Linux 4.13.
  var proofOfKillOfMain: String? {
    if let ownKills {
      return hasKillLeft(ownKills) ? words(on: ownKills) : nil
    }
    if let sharedKills {
      return hasKillLeft(sharedKills)
        ? "likely: oom_kill \(sharedKills) in the memory cgroup that it shared with others" : nil
    }
    if let machineKills {
      guard hasKillLeft(machineKills), let largerProcesses, largerProcesses < Self.fewLarger else { return nil }
      return "likely: oom_kill \(machineKills) on this machine, where it was among the largest processes"
    }
    return nearLimit.map { "inferred: \($0)" }
  }

  /// The kernel kills the largest process first, save for what is protected (proc_pid_oom_score_adj(5)).
  private static let fewLarger = 3

  /// Whether the count tells of more kills than the log tells of other processes of the tree.
  private func hasKillLeft(_ count: Count) -> Bool {
    count.rise > log.count { $0.pid != nil && $0.pid != mainProcess }
  }

  private func words(on ownKills: Count) -> String {
    "memory cgroup oom_kill \(ownKills), " + (limit.map { "limit \($0)" } ?? "no limit")
  }

  /// Whose limit it was, or the machine's memory.
  var cause: String {
    if let logged = log.last, !logged.isOfCgroup { return "the machine ran out of memory" }
    guard let limit else { return "at the limit of a cgroup out of sight, or of the machine" }
    // A kill without a hit of the own limit came from further up.
    guard limitIsOwn else { return "at the limit of \(limit) of the cgroup around it" }
    return limitHits?.rise == 0
      ? "below its memory-limit of \(limit): a cgroup around it or the machine ran out of memory"
      : "at its memory-limit of \(limit)"
  }

  /// As in `98 % of the limit of 100.0 MiB`, from 95 % on; nil below, and where one of the two is not known.
  var nearLimit: String? {
    guard let limit, let lastResident, limit > .zero else { return nil }
    let percent = Double(lastResident.count) / Double(limit.count) * 100
    return percent >= 95 ? "\(Int(percent)) % of the limit of \(limit) at the last reading" : nil
  }

  /// Page cache alone was seen to hit a limit 265 times without harm, a program that got no further for want of memory
  /// 4.3 million times (Linux 6.18, cgroup v1).
  private static let manyHits: Int64 = 1000

  /// That the limit was hit so often that it may be why a program did not end in time.
  var wordsOnHits: String? {
    guard let limitHits, limitHits.rise >= Self.manyHits else { return nil }
    let place = limit.map { " of \($0)" } ?? ""
    return "at the memory limit\(place), which it hit \(limitHits.rise) times"
  }
}
