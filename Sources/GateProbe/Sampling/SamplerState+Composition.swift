import GateCore

extension SamplerState {
  /// One reading a second for half an hour; then one of each two is kept, and so on.
  private static let mostReadings = 2048

  /// The most processes whose mappings are summed at once; others count as they do without.
  private static let mostShares = 512

  /// The processes whose mappings are to be summed: all, since what they share is divided by all of them; only the main
  /// one where a cgroup counts the tree's memory.
  var processesToSum: [Int32] {
    countsTree ? main.map { [$0.pid] } ?? [] : tracked.prefix(Self.mostShares).map(\.pid)
  }

  mutating func note(_ totals: MappingTotals, of pid: Int32, at time: Int64) {
    guard let process = known[pid] else { return }
    process.noteProportional(totals.proportional.count, of: totals.resident.count)
    guard process === main, let memory = store.lastMemory else { return }
    let composition = Composition(
      anonymous: memory.anonymous, file: memory.file, shared: memory.shared, lazilyFreed: totals.lazilyFreed,
      hugePages: totals.hugePages
    )
    keep(CompositionReading(time: .nanoseconds(time), composition: composition, proportional: totals.proportional))
  }

  /// Takes in a reading of all mappings, and how long it took, in nanoseconds.
  mutating func note(_ reading: CompositionReading, took: Int64) {
    mappingsRestUntil = reading.time.nanoseconds + max(1_000_000_000, took * 100)
    var reading = reading
    reading.composition.codeFiles = []
    keep(reading)
  }

  func mayReadMappings(at time: Int64) -> Bool { time >= mappingsRestUntil }

  private mutating func keep(_ reading: CompositionReading) {
    if readings.count >= Self.mostReadings {
      readings = stride(from: 0, to: readings.count, by: 2).map { readings[$0] }
    }
    readings.append(reading)
  }
}

// MARK: - Phases

extension SamplerState {
  /// The shortest time between two settings of the high-water mark: each holds the target up for about half a
  /// millisecond.
  private static let shortestPhase: Int64 = 50_000_000

  /// Reads the main process, and where the tree can stand still meanwhile sets its high-water mark back.
  mutating func beginPhase(at time: Int64) -> (resident: Bytes?, peakBefore: Bytes?) {
    guard main != nil, let cgroup, time >= nextReset, let level = cgroup.whileFrozen({ resetMark(at: time) }) else {
      return (mainReading(at: time)?.resident, nil)
    }
    return level
  }

  /// Reads the main process, and sets its high-water mark to what is resident (`clear_refs`, proc_pid_clear_refs(5)).
  private mutating func resetMark(at time: Int64) -> (resident: Bytes?, peakBefore: Bytes?) {
    guard let main, let memory = mainReading(at: time) else { return (nil, nil) }
    nextReset = time + Self.shortestPhase
    do throws(SystemFailure) {
      try SmallFile.write("5", to: "/proc/\(main.pid)/clear_refs")
      store.beginEpoch()
      return (memory.resident, max(memory.peak, memory.resident))
    } catch {
      return (memory.resident, nil)
    }
  }
}
