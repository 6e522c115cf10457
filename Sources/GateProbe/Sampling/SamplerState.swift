import GateCore

/// What a sampler knows, and how one turn of its loop adds to it.
///
/// A turn in which no process is new or gone allocates nothing. Hence `while` and no `for` in what each turn does: in a
/// build without optimisation an iterator allocates.
struct SamplerState: ~Copyable {
  /// How many processes have their files held open; many systems allow a process 1024 descriptors.
  private static let mostKeptFiles = 300

  let processTree: ProcessTree
  let cgroup: Cgroup?
  /// What the kernel counts for the whole tree; nil where it has no cgroup for that.
  private let treeMemory: CgroupMemoryReader?
  private var finder: MainProcessFinder?
  private(set) var main: TrackedProcess?
  let countsTree: Bool
  /// In the order in which they were found; none that has ended.
  var tracked: [TrackedProcess] = []
  var known: [Int32: TrackedProcess] = [:]
  var gone = ProcessArchive()
  var store: SampleStore
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 16)
  private let walk = LinuxCalls.WalkBuffer(capacity: 8192)
  /// What the main process consisted of before it was stopped.
  var composition: Composition?
  var readings: [CompositionReading] = []
  var mappingsRestUntil: Int64 = 0
  var nextReset: Int64 = 0
  /// Whether a tracer reports every new process.
  var reportsAll: Bool
  private var addedNotes: [RecordingNote] = []
  private var lastTree: Int64 = 0
  /// Where the main process was alone at the last reading of the tree: what it held, and until when that will do.
  private var loneTree: (level: Int64, until: Int64)?
  private var nextActivity: Int64 = 0
  private var lastReading: Int64?
  /// The time of the last reading that found a living process, at which the tree's memory was read.
  private var lastTreeReading: Int64 = 0
  /// The time of the last sample in the store.
  private var lastStored: Int64 = 0
  private var widestGap: Int64 = 0

  /// Starts with the leader alone, which is the main process where no rule names another.
  init(processTree: ProcessTree, cgroup: Cgroup?, main rule: Target.MainProcess?, capacity: Int) {
    self.processTree = processTree
    self.cgroup = cgroup
    treeMemory = cgroup?.memory.flatMap { CgroupMemoryReader(of: $0) }
    countsTree = treeMemory != nil
    reportsAll = processTree.isTraced
    finder = rule.map { MainProcessFinder(processTree: processTree, rule: $0) }
    store = SampleStore(capacity: capacity)
    tracked.reserveCapacity(1024)
    known.reserveCapacity(1024)
    let leader = add(processTree.leader, parent: processTree.supervisor, at: 0)
    if finder == nil { main = leader }
  }

  deinit {
    buffer.deallocate()
  }

  /// Whether the main process is still looked for.
  var isSearching: Bool { finder != nil && main == nil }

  @discardableResult
  mutating func add(_ pid: Int32, parent: Int32, at time: Int64, isFollowed: Bool = false) -> TrackedProcess {
    let process = TrackedProcess(
      pid: pid, parent: parent, time: time, keepsFile: tracked.count < Self.mostKeptFiles, isFollowed: isFollowed,
      command: known[parent]?.command ?? ""
    )
    process.look(at: time, isWatched: true, buffer: buffer)
    tracked.append(process)
    known[pid] = process
    return process
  }

  /// Adds a note to the report.
  mutating func add(_ note: RecordingNote) {
    addedNotes.append(note)
  }
}

// MARK: - Reading

extension SamplerState {
  /// Reads the main process and the tree once.
  ///
  /// Where a cgroup counts the tree's memory, the other processes are left to ``discover(at:)``.
  mutating func sweep(at time: Int64) {
    let memory = mainReading(at: time)
    var alive = memory == nil ? 0 : 1
    if !countsTree || tracked.count == 1 {
      alive += readOthers(at: time)
    } else {
      alive = max(alive, tracked.count)
    }
    guard alive > 0 else {
      lastReading = nil
      return
    }
    if let lastReading { widestGap = max(widestGap, time - lastReading) }
    (lastReading, lastStored, lastTreeReading) = (time, time, time)
    lastTree = tree(with: memory, at: time)
    store.append(
      SampleStore.Reading(
        time: time, main: memory, tree: lastTree, processes: alive,
        activity: memory == nil ? nil : activity(at: time)
      )
    )
  }

  /// How long what changes slowly or not at all is not read again.
  ///
  /// A reading at an interval costs some 15 µs, and CPU time is counted in steps of 10 ms anyway. It is less in a short
  /// life, of whose end not more than a thirtieth should be missed. Three readings at each 10 ms took 1.08 % of a CPU, of
  /// which 0.74 by the same in C; with these rests it is 0.83 % (medians of 7 interleaved runs, 2 CPUs, 2026-11).
  private static func rest(at time: Int64) -> Int64 { min(40_000_000, time / 32) }

  /// What the tree holds, where these are the values of the main process.
  ///
  /// As long as a process is alone and holds what it held at the last reading of its cgroup, so does the cgroup, but for
  /// files in memory that it writes without mapping them: those wait for the next reading. That it is alone is known for
  /// certain only where a tracer reports each new process.
  private mutating func tree(with memory: MemoryReading?, at time: Int64) -> Int64 {
    guard let memory else {
      loneTree = nil
      return treeMemory?.read()?.count ?? contributions
    }
    let isAlone = reportsAll && tracked.count == 1
    if isAlone, let loneTree, loneTree.level == memory.notOfFiles, time < loneTree.until { return lastTree }
    loneTree = isAlone ? (memory.notOfFiles, time + Self.rest(at: time)) : nil
    return max(treeMemory?.read()?.count ?? contributions, memory.notOfFiles)
  }

  /// What the main process has done; nil once it has ended, and between two readings of that.
  private mutating func activity(at time: Int64) -> Activity? {
    guard time >= nextActivity else { return nil }
    nextActivity = time + Self.rest(at: time)
    return main?.activity(buffer: buffer)
  }

  /// Reads every process but the main one; how many of them hold memory.
  private mutating func readOthers(at time: Int64) -> Int {
    var (alive, ended, at) = (0, 0, 0)
    while at < tracked.count {
      let process = tracked[at]
      at += 1
      if process === main, process.isAlive { continue }
      if let bytes = process.resident(at: time, buffer: buffer) {
        if bytes > 0 { alive += 1 }
      } else {
        ended += 1
      }
    }
    if ended > 0 { forgetEnded(at: time) }
    return alive
  }

  private var contributions: Int64 {
    var (sum, at): (Int64, Int) = (0, 0)
    while at < tracked.count {
      sum += tracked[at].contribution
      at += 1
    }
    return sum
  }

  /// The values of the main process; nil while it is unknown, and once it has ended.
  mutating func mainReading(at time: Int64) -> MemoryReading? {
    guard let main else { return nil }
    let wasAlive = main.isAlive
    if let memory = main.memory(at: time, buffer: buffer) { return memory }
    // It has ended, or only its first thread has. This is asked once here, and again at each search.
    guard wasAlive, main.resident(at: time, buffer: buffer) != nil else { return nil }
    return main.goThroughLivingThread(buffer: buffer) ? main.memory(at: time, buffer: buffer) : nil
  }

  /// Takes the processes whose files fail out of the list: they are reaped.
  ///
  /// The end of one that is traced will be reported.
  private mutating func forgetEnded(at time: Int64) {
    for process in tracked where !process.isFollowed && process.resident(at: time, buffer: buffer) == nil {
      retire(process)
    }
  }

  mutating func retire(_ process: TrackedProcess) {
    tracked.removeAll { $0 === process }
    known[process.pid] = nil
    gone.add(process.record(isMain: process === main))
  }

  /// Adds the reading that a tracer has made at the end of a process.
  ///
  /// Each thread of it has an end; only the first of them can change the tree.
  mutating func appendEnd(of process: TrackedProcess, _ memory: MemoryReading, isFirst: Bool, at time: Int64) {
    loneTree = nil
    // A reading of a process that stands still at its end may be reported a moment after it was made.
    let time = max(time, lastStored)
    if !countsTree {
      lastTree = contributions
    } else if isFirst, process.hasExecuted, process.firstSeen >= lastTreeReading {
      // The cgroup's last reading knows nothing of it yet; what it holds is its own since its exec.
      lastTree += memory.notOfFiles
    }
    lastTree = max(lastTree, memory.notOfFiles)
    lastStored = time
    store.append(
      SampleStore.Reading(
        time: time, main: process === main ? memory : nil, tree: lastTree, processes: max(1, tracked.count)
      )
    )
  }
}

// MARK: - Finding

extension SamplerState {
  /// Looks for processes that are new, and for the main one.
  mutating func discover(at time: Int64) {
    var (at, count) = (0, walk.fill(from: processTree.supervisor))
    while at < count {
      let (pid, parent) = walk[at]
      if known[pid] == nil, !hasEnded(pid) { add(pid, parent: parent, at: time) }
      at += 1
    }
    if countsTree { _ = readOthers(at: time) }
    (at, count) = (0, tracked.count)
    while at < count {
      let process = tracked[at]
      process.look(at: time, isWatched: process === main, buffer: buffer)
      if !process.isAlive { _ = process.goThroughLivingThread(buffer: buffer) }
      at += 1
    }
    guard isSearching, let pid = finder?.find() else { return }
    main = known[pid] ?? add(pid, parent: LinuxCalls.parent(of: pid) ?? 0, at: time)
  }

  /// Whether an unknown process is one whose end was reported, and for which its parent has not yet waited.
  private func hasEnded(_ pid: Int32) -> Bool {
    processTree.isTraced && ProcessStat(of: pid)?.isAlive != true
  }

  /// All that was seen; to be asked for once, when nothing is left of the tree.
  mutating func report(at time: Int64) -> SamplingReport {
    store.flush()
    for process in tracked {
      process.look(at: time, isWatched: true, buffer: buffer)
      gone.add(process.record(isMain: process === main))
    }
    return SamplingReport(
      samples: store.last(.max),
      processes: gone.records.sorted { ($0.firstSeen, $0.id) < ($1.firstSeen, $1.id) },
      composition: composition,
      compositions: readings,
      treeMethod: countsTree ? .cgroup : readings.contains { $0.proportional != nil } ? .proportional : .upperBound,
      widestGap: .nanoseconds(widestGap),
      notes: notes
    )
  }

  private var notes: [RecordingNote] {
    var notes = addedNotes
    if store.stride > 1 { notes.append(.thinned(stride: store.stride)) }
    if gone.dropped > 0 { notes.append(.processesNotListed(count: gone.dropped)) }
    return notes
  }
}

extension MemoryReading {
  /// What of a process's memory a cgroup's values count too, in bytes.
  ///
  /// The kernel gathers those in batches of 64 pages a CPU (MEMCG_CHARGE_BATCH, mm/memcontrol.c), so that a small
  /// program's may be missing from them altogether; its own values are exact.
  fileprivate var notOfFiles: Int64 { anonymous.count + shared.count }
}
