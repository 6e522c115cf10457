import Statistics

/// Searches for the smallest memory limit at which a scenario passes, and for the one from which on it is at full speed.
///
/// A value without a machine: the runs so far decide what is run next. One death settles a level, and a level survives
/// only after ``runsToSurvive`` runs, so that single runs narrow the range down and only its end is repeated.
package struct LimitSearch: Sendable, Equatable {
  /// Runs without the limit that is searched for.
  package struct Usual: Sendable, Equatable {
    package var durations: [Duration]
    /// The most memory of the tree: that of its largest process, and the anonymous memory of the others.
    package var treePeak: Bytes
    /// The most memory of the cgroup, with its page cache; nil if unknown.
    package var peak: Bytes?

    package init(durations: [Duration], treePeak: Bytes, peak: Bytes?) {
      (self.durations, self.treePeak, self.peak) = (durations, treePeak, peak)
    }

    /// What is resident in the program and not charged to its cgroup: pages of libraries that others have mapped.
    ///
    /// In a fresh container they are charged to it. It may be more, since the cgroup's peak includes other page cache.
    fileprivate var chargedToOthers: Bytes { peak.map { max(.zero, treePeak - $0) } ?? .zero }

    package var duration: Duration { .seconds(Spread.median(durations.map(\.inSeconds)) ?? 0) }
  }

  package static let runsToSurvive = 3
  /// Above this multiple of the usual time a run is slow.
  package static let slowdown = 1.5
  /// The same for a run that never hit its limit: other programs may have slowed it down, or a heap that is smaller.
  private static let slowdownWithoutHits = 3.0
  /// The answer is above the truth by at most this share.
  private static let resolution = 0.01
  /// The answer is not narrowed down further than to these pages.
  ///
  /// The kernel charges memory in batches of 64 pages per CPU (`MEMCG_CHARGE_BATCH`, mm/memcontrol.c), and near its limit
  /// page by page. With 2 CPUs a program that touches 4 or 40 MiB survived 20 of 20 runs from a sharp edge on, and 19 of
  /// 20 in the 256 KiB above it (Linux 6.18, cgroup v1, 2026-11).
  private static let fewestPages: Int64 = 16
  /// Ends the search for a scenario that fails at random.
  private static let mostRuns = 100

  package let usual: Usual
  package let machine: MemoryLimiting
  /// In the order in which they ran.
  package private(set) var runs: [LimitedRun] = []
  private var levels: [Bytes: [LimitedRun]] = [:]

  /// The machine's highest useful limit is that of a scenario with its own `memory-limit`.
  package init(usual: Usual, on machine: MemoryLimiting) {
    (self.usual, self.machine) = (usual, machine)
  }

  package mutating func add(_ run: LimitedRun) {
    runs.append(run)
    levels[run.limit, default: []].append(run)
  }

  /// The limit of the next run; nil if everything is known.
  package var next: Bytes? {
    guard runs.count < Self.mostRuns else { return nil }
    if let level = nextForSurvival { return level }
    guard let need else { return nil }
    return nextForSpeed(from: need) ?? untriedAdvice
  }

  /// All runs at a level, in their order.
  package func runs(at level: Bytes) -> [LimitedRun] { levels[level] ?? [] }

  /// From the lowest to the highest.
  package var triedLevels: [Bytes] { levels.keys.sorted() }
}

// MARK: - Survival

extension LimitSearch {
  /// The highest level with a run that did not survive.
  package var highestDeath: Bytes? {
    levels.filter { !$0.value.allSatisfy(\.survived) }.keys.max()
  }

  /// The lowest level above all deaths; it may have survived once only.
  package var lowestSurvivor: Bytes? { survivors.filter { $0 > highestDeath ?? .zero }.min() }

  /// The smallest limit with which the scenario passes; nil if it is not known yet, or there is none.
  package var need: Bytes? { nextForSurvival == nil ? lowestSurvivor.flatMap { hasSurvived($0) ? $0 : nil } : nil }

  /// A level with which the scenario passed although it did not with a higher one; nil if there is none.
  ///
  /// Runtimes choose their heap by the limit, and programs fail at random.
  package var survivorBelowDeath: Bytes? {
    guard let death = highestDeath else { return nil }
    return survivors.filter { $0 + machine.batches < death }.max()
  }

  private var survivors: some Collection<Bytes> { levels.filter { $0.value.allSatisfy(\.survived) }.keys }

  private func hasSurvived(_ level: Bytes) -> Bool { runs(at: level).count >= Self.runsToSurvive }

  private var nextForSurvival: Bytes? {
    let start = start
    switch (highestDeath, lowestSurvivor) {
    case (nil, nil): return start
    case (let death?, nil): return above(death, from: start)
    case (let death, let survivor?):
      let death = death ?? .zero
      if survivor - death > width(at: survivor) {
        return death > .zero ? middle(death, survivor) : below(survivor, from: start)
      }
      return hasSurvived(survivor) ? nil : survivor
    }
  }

  /// Most programs need what they hold without the page cache, and some memory of the kernel.
  private var start: Bytes {
    let held = usual.treePeak + max(usual.treePeak.share(0.02), machine.batches)
    return aligned(min(held, usual.peak ?? held, machine.largest))
  }

  /// Each level is twice as far away from the start as the one before.
  private func below(_ survivor: Bytes, from start: Bytes) -> Bytes {
    let level = start - aligned(max(width(at: start), (start - survivor).doubled))
    return level < survivor && level > machine.page ? level : middle(.zero, survivor)
  }

  private func above(_ death: Bytes, from start: Bytes) -> Bytes? {
    guard death < machine.largest else { return nil }
    let level = start + aligned(max(width(at: start), (death - start).doubled))
    return aligned(min(max(level, death + machine.page), machine.largest))
  }

  /// How near a death and a survival must be to each other.
  private func width(at level: Bytes) -> Bytes {
    max(level.share(Self.resolution), Bytes(Self.fewestPages * machine.page.count))
  }

  private func middle(_ low: Bytes, _ high: Bytes) -> Bytes {
    let level = aligned(Bytes((low.count + high.count) / 2))
    return level > low ? level : low + machine.page
  }

  private func aligned(_ level: Bytes) -> Bytes {
    Bytes(max(1, level.count / machine.page.count) * machine.page.count)
  }
}

// MARK: - Speed

extension LimitSearch {
  package enum Speed: Sendable {
    case full, slow
    /// As many runs were slow as not.
    case undecided
  }

  /// The time of a run as a multiple of the usual one.
  package func slowdown(of run: LimitedRun) -> Double {
    run.duration.inSeconds / max(usual.duration.inSeconds, 1e-9)
  }

  /// nil for a level that did not survive.
  package func speed(at level: Bytes) -> Speed? {
    let runs = runs(at: level)
    guard !runs.isEmpty, runs.allSatisfy(\.survived) else { return nil }
    let slow = runs.count(where: isSlow)
    let fast = runs.count - slow
    return slow == fast ? .undecided : slow > fast ? .slow : .full
  }

  private func isSlow(_ run: LimitedRun) -> Bool {
    if isThrashing(run) { return true }
    return slowdown(of: run) > (run.usage?.limitHits == 0 ? Self.slowdownWithoutHits : Self.slowdown)
  }

  /// Whether its runs were slow beyond doubt: a single one may be another program's fault.
  private func isSlow(at level: Bytes) -> Bool {
    let runs = runs(at: level)
    return runs.count > 1 || runs.allSatisfy { isThrashing($0) || slowdown(of: $0) > Self.slowdownWithoutHits }
  }

  /// Whether it threw out and read again more than all that the tree ever held: here the pages may come from the page cache
  /// of others at once, but in a fresh container from the disk.
  private func isThrashing(_ run: LimitedRun) -> Bool {
    Double(run.usage?.refaults ?? 0) * Double(machine.page.count) > Double(usual.treePeak.count)
  }

  /// The smallest limit from which on the scenario is at full speed; nil if it is not known.
  package var fullSpeed: Bytes? {
    guard let need, nextForSpeed(from: need) == nil else { return nil }
    return lowestFast(from: need)
  }

  private func highestSlow(from need: Bytes) -> Bytes? {
    levels.keys.filter { $0 >= need && speed(at: $0) == .slow }.max()
  }

  private func lowestFast(from need: Bytes) -> Bytes? {
    let slow = highestSlow(from: need) ?? .zero
    return levels.keys.filter { $0 >= need && $0 > slow && speed(at: $0) == .full }.min()
  }

  private func nextForSpeed(from need: Bytes) -> Bytes? {
    if let level = levels.keys.filter({ $0 >= need && speed(at: $0) == .undecided }).min() { return level }
    guard let slow = highestSlow(from: need) else { return nil }
    guard let fast = lowestFast(from: need) else { return above(slow, from: need) }
    if fast - slow > width(at: fast) { return middle(slow, fast) }
    return !isSlow(at: slow) ? slow : hasSurvived(fast) ? nil : fast
  }
}

// MARK: - Levels

extension LimitSearch {
  package enum LevelOutcome: String, Sendable, Codable {
    /// It passed in all of enough runs, at full speed.
    case survives
    /// It passed in all of enough runs, but took longer.
    case slow
    /// It passed in fewer runs, which only narrowed the search down.
    case passed
    case killed, failed, stalled
  }

  /// What is known of a level that was tried.
  package func outcome(at level: Bytes) -> LevelOutcome {
    switch runs(at: level).first(where: { !$0.survived })?.outcome {
    case .killed: .killed
    case .failed, .unlimited: .failed
    case .stalled: .stalled
    case .survived, nil: speed(at: level) == .slow ? .slow : hasSurvived(level) ? .survives : .passed
    }
  }
}

// MARK: - Advice

extension LimitSearch {
  /// What to write into a container's resources: what it needs to run at full speed, and a limit with a reserve.
  package struct Advice: Sendable, Equatable {
    package var request: Bytes
    package var limit: Bytes
  }

  /// A scenario is not all that happens in production.
  private static let reserve = 0.25

  /// In whole MiB; nil before the answer is known.
  package var advice: Advice? {
    guard let need, nextForSpeed(from: need) == nil else { return nil }
    let fast = lowestFast(from: need) ?? need
    let level = max(fast + usual.chargedToOthers, residentBeyond(fast) ?? .zero)
    return Advice(
      request: level.roundedUpToMebibytes, limit: (level + level.share(Self.reserve)).roundedUpToMebibytes)
  }

  /// What the tree held at a level, if that is more than the level: the rest are pages of files that others have mapped,
  /// which are charged to these, and in a fresh container to the program.
  ///
  /// curl passes at 1.9 MiB, where it holds 10.9 MiB; with libraries of its own it is killed at 4 MiB (2026-11).
  package func residentBeyond(_ level: Bytes) -> Bytes? {
    runs(at: level).compactMap(\.treePeak).max().flatMap { $0 > level + machine.batches ? $0 : nil }
  }

  /// The advised limit must survive, too, which also finds programs that need more where they are given more.
  private var untriedAdvice: Bytes? {
    guard let limit = advice?.limit, limit <= machine.largest, runs(at: limit).isEmpty else { return nil }
    return limit
  }
}

extension Bytes {
  fileprivate var doubled: Bytes { self + self }

  fileprivate func share(_ part: Double) -> Bytes { Bytes(clampedFrom: Double(count) * part) }

  fileprivate var roundedUpToMebibytes: Bytes { .mebibytes((count + (1 << 20) - 1) >> 20) }
}
