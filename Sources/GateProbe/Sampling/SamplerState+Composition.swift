import GateCore

extension SamplerState {
  /// Enough for one reading per second for half an hour; when full, every second reading is dropped.
  private static let maxReadings = 2048

  /// The maximum number of processes whose mappings are summed; the others count with their resident memory.
  private static let maxSummedProcesses = 512

  /// The processes whose mappings to sum: all of them, since they may share pages, or only the main one if a cgroup
  /// counts the tree's memory.
  var processesToSum: [(pid: Int32, folder: String)] {
    let processes = countsTree ? main.map { [$0] } ?? [] : Array(tracked.prefix(Self.maxSummedProcesses))
    return processes.map { ($0.pid, $0.folder) }
  }

  mutating func note(_ totals: MappingTotals, of pid: Int32, at time: Int64) {
    guard let process = known[pid] else { return }
    // A cgroup corrects the sum; a share would only move it in the middle of a repetition.
    if !countsTree, let share = totals.proportionalAnonymous {
      process.noteProportional(share.count, ofAnonymous: totals.anonymous.count)
    }
    mostSwapped = max(mostSwapped, totals.swapped)
    mostHugeTLB = max(mostHugeTLB, totals.hugeTLB)
    guard process === main, let memory = store.lastMemory else { return }
    let composition = Composition(
      anonymous: memory.anonymous, file: memory.file, shared: memory.shared, lazilyFreed: totals.lazilyFreed,
      hugePages: totals.hugePages
    )
    keep(CompositionReading(time: .nanoseconds(time), composition: composition, proportional: totals.proportional))
  }

  /// Stores a reading of all mappings, which took that many nanoseconds.
  mutating func note(_ reading: CompositionReading, took: Int64) {
    nextMappingsReading = reading.time.nanoseconds + max(1_000_000_000, took * 100)
    var reading = reading
    reading.composition.codeFiles = []
    keep(reading)
  }

  func mayReadMappings(at time: Int64) -> Bool { time >= nextMappingsReading }

  private mutating func keep(_ reading: CompositionReading) {
    if readings.count >= Self.maxReadings {
      readings = stride(from: 0, to: readings.count, by: 2).map { readings[$0] }
    }
    readings.append(reading)
  }
}

// MARK: - Files in memory

/// The files in memory that a tree has written, when they held most.
struct UnmappedFiles {
  private(set) var largest: [Composition.Library] = []
  /// What they held then, in bytes: as the cgroup counted it without a mapping, or without a cgroup by their sizes.
  private var held: Int64 = 0
  private var next: Int64 = 0

  /// They are listed again once there is a sixteenth more, or so much.
  private static let smallestStep = MappedRise.least.count

  /// `amount` is what the cgroup counts; nil without one, where they are listed with the mappings.
  func isDue(at time: Int64, holding amount: Int64?) -> Bool {
    guard let amount else { return true }
    return amount >= held + max(Self.smallestStep, held / 16) && time >= next
  }

  /// Takes a new list, which took that many nanoseconds: at most 1 % of the time is spent on them.
  mutating func note(_ files: [Composition.Library], holding amount: Int64?, at time: Int64, took: Int64) {
    let sum = files.reduce(0) { $0 + $1.resident.count }
    if amount != nil || sum > held { (largest, held) = (Self.part(of: files, holding: amount ?? sum), amount ?? sum) }
    next = time + took * 100
  }

  /// The first files, with no more in all than the tree holds: another program may write files meanwhile.
  private static func part(of files: [Composition.Library], holding amount: Int64) -> [Composition.Library] {
    var left = amount
    return files.compactMap { file in
      let part = min(file.resident.count, left)
      left -= part
      return part > 0 ? Composition.Library(name: file.name, resident: Bytes(part)) : nil
    }
  }

  /// That no cgroup counts them; nil if they are small.
  var note: RecordingNote? {
    guard held >= Self.smallestStep, let path = largest.first?.name else { return nil }
    let folder = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
    return .filesNotCounted(folder: folder.isEmpty ? nil : String(folder))
  }
}

extension SamplerState {
  /// What the cgroup counts of files that no process maps; nil without one.
  var unmappedAmount: Int64? { countsTree ? unmapped : nil }

  /// What is to be listed now; nil if nothing is.
  func filesToList(at time: Int64) -> MemoryFiles? {
    guard unmappedFiles.isDue(at: time, holding: unmappedAmount), let main else { return nil }
    let processes = [main.folder] + tracked.filter { $0 !== main }.map(\.folder)
    let start = WallTime.nanoseconds() - time - Self.tick
    return MemoryFiles(processes: processes, start: start, most: unmappedAmount.map { Self.mostGrown * $0 })
  }

  /// By what factor a file may have grown since the reading of the cgroup, or the cgroup's count lag behind it.
  private static let mostGrown: Int64 = 4

  /// The kernel's times of files advance in ticks of up to 10 ms (CONFIG_HZ=100).
  private static let tick: Int64 = 10_000_000
}

// MARK: - Phases

extension SamplerState {
  /// The shortest time between two resets of the high-water mark: each stops the target for about half a millisecond.
  private static let shortestPhase: Int64 = 50_000_000

  /// Reads the main process, and resets its high-water mark if the tree can be frozen meanwhile.
  mutating func beginPhase(at time: Int64) -> (resident: Bytes?, peakBefore: Bytes?) {
    guard main != nil, let cgroup, time >= nextReset, let level = cgroup.whileFrozen({ resetMark(at: time) }) else {
      return (mainReading(at: time)?.resident, nil)
    }
    return level
  }

  /// Reads the main process, and resets its high-water mark to the resident memory (proc_pid_clear_refs(5)).
  private mutating func resetMark(at time: Int64) -> (resident: Bytes?, peakBefore: Bytes?) {
    guard let main, let memory = mainReading(at: time) else { return (nil, nil) }
    nextReset = time + Self.shortestPhase
    do throws(SystemFailure) {
      try SmallFile.write("5", to: "\(main.folder)/clear_refs")
      store.beginEpoch()
      return (memory.resident, max(memory.peak, memory.resident))
    } catch {
      return (memory.resident, nil)
    }
  }
}
