import GateCore

/// The state of a sampler, and the work of one iteration of its loop.
///
/// An iteration allocates nothing unless a process starts or ends. Hence `while` instead of `for` in its code: without
/// optimisation an iterator allocates.
struct SamplerState: ~Copyable {
  /// The number of processes whose files stay open: many systems limit a process to 1024 descriptors, of which the runner
  /// needs some, too.
  private static let maxOpenFiles = min(300, ResourceLimit.descriptors / 4)

  let processTree: ProcessTree
  let cgroup: Cgroup?
  /// The kernel's count for the whole tree; nil without a memory cgroup.
  private let treeMemory: CgroupMemoryReader?
  private var finder: MainProcessFinder?
  /// The build tool that starts the program; nil if the command is the program.
  let tool: BuildTool?
  /// The process that a rule names; otherwise the largest process.
  private(set) var main: TrackedProcess?
  let countsTree: Bool
  /// The living processes, in the order of discovery.
  var tracked: [TrackedProcess] = []
  var known: [Int32: TrackedProcess] = [:]
  /// Processes that were found reaped before the tracer reported anything about them.
  var missing: [TrackedProcess] = []
  var archive = ProcessArchive()
  var store: SampleStore
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 16)
  private let walk = LinuxCalls.WalkBuffer(capacity: 8192)
  /// The composition of the main process before it was stopped.
  var composition: Composition?
  var readings: [CompositionReading] = []
  var nextMappingsReading: Int64 = 0
  var nextReset: Int64 = 0
  /// Whether a tracer reports every new process.
  var reportsAll: Bool
  private var addedNotes: [RecordingNote] = []
  /// Processes that SIGKILL ended, before ``ownKills``.
  var kills: [SeenKill] = []
  /// From when on Highwater itself sends SIGKILL.
  var ownKills: Int64 = .max
  /// Of one process.
  var mostSwapped = Bytes.zero
  var mostHugeTLB = Bytes.zero
  private let refusalsBefore = ProcFile.refusals
  private(set) var lastTree: Int64 = 0
  /// Whether it was the sum over the processes, rather than the kernel's count for the cgroup.
  private var lastTreeIsSum = true
  var nextOutsideSearch: Int64 = 0
  /// What the tree holds at most besides pages of files, as the last reading of the cgroup shows it.
  private var mostCounted = Int64.max
  /// The highest lower bound that the peaks of the processes give for the tree (``TrackedProcess/treePeak``).
  private var treePeak: Int64 = 0
  /// If the main process was alone at the last tree reading: its memory, and until when that reading stays valid.
  private var soleProcess: (level: Int64, until: Int64)?
  /// Shared memory that no process maps, as far as the last reading of the cgroup is sure of it.
  private(set) var unmapped: Int64 = 0
  var unmappedFiles = UnmappedFiles()
  /// nil if no rule of the gate needs them.
  var kinds: KindReadings?
  private var nextActivity: Int64 = 0
  private var lastReading: Int64?
  /// The time of the last sweep that found a living process and read the tree's memory.
  private var lastTreeReading: Int64 = 0
  var fullReadings = FullReadings()
  /// The time of the last sample in the store.
  private var lastStored: Int64 = 0
  private var widestGap: Int64 = 0

  /// Starts with the leader only.
  init(
    processTree: ProcessTree, cgroup: Cgroup?, main rule: Target.MainProcess?, behind tool: BuildTool? = nil,
    capacity: Int
  ) {
    self.tool = rule == nil ? tool : nil
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
    guard let attached = processTree.attached else { return }
    if attached.awaitsProgram { leader.awaitsProgram() } else { attach(to: attached) }
  }

  deinit {
    buffer.deallocate()
  }

  /// Whether no process needs to be searched for: what the cgroup counts and no known process has may be that of one that
  /// asked not to be traced (`CLONE_UNTRACED`, clone(2)).
  var isEachProcessReported: Bool { reportsAll && unmapped <= 0 }

  /// Whether the main process has not been found yet.
  var isSearching: Bool { finder != nil && main == nil }

  @discardableResult
  mutating func add(
    _ pid: Int32, parent: Int32, at time: Int64, isFollowed: Bool = false, isOlder: Bool = false
  ) -> TrackedProcess {
    let isCopy = pid != processTree.leader && !isOlder
    let process = TrackedProcess(
      pid: pid, parent: parent, time: time, keepsFileOpen: tracked.count < Self.maxOpenFiles, isFollowed: isFollowed,
      awaitsFork: isCopy && (isFollowed || reportsAll), isCopy: isCopy, command: known[parent]?.command ?? ""
    )
    process.updateIdentity(at: time, isWatched: true, buffer: buffer)
    tracked.append(process)
    known[pid] = process
    return process
  }

  mutating func add(_ note: RecordingNote) {
    addedNotes.append(note)
  }
}

// MARK: - Reading

extension SamplerState {
  /// Up to this many processes are all read in each sweep, at less than a microsecond each; of more, a cgroup counts
  /// the memory, and ``discover(at:)`` reads them.
  private static let mostReadEachTime = 64

  private var readsAll: Bool { !countsTree || tracked.count <= Self.mostReadEachTime }

  /// Reads the main process and the tree once.
  mutating func sweep(at time: Int64) {
    var memory = mainReading(at: time)
    var alive = memory == nil ? 0 : 1
    if readsAll {
      alive += readOthers(at: time)
      if switchToLargest() { memory = mainReading(at: time) }
      fullReadings.last = time
    } else {
      if readSeldom(at: time) { memory = mainReading(at: time) }
      alive = max(alive, tracked.count)
    }
    guard alive > 0 else {
      // Of a traced process, the reading at its exit is the last one.
      if let lastReading { widestGap = max(widestGap, (lastStored > lastReading ? lastStored : time) - lastReading) }
      lastReading = nil
      return
    }
    if let lastReading { widestGap = max(widestGap, time - lastReading) }
    (lastReading, lastStored, lastTreeReading) = (time, time, time)
    lastTree = tree(with: memory, at: time)
    noteOthers()
    store.append(
      SampleStore.Reading(
        time: time, process: main?.pid, memory: memory, tree: lastTree, processes: alive,
        activity: memory == nil ? nil : activity(at: time)
      )
    )
  }

  /// Without a rule, the largest process is the main one; whether it has changed.
  mutating func switchToLargest() -> Bool {
    guard finder == nil else { return false }
    var largest = main
    var at = 0
    while at < tracked.count {
      let process = tracked[at]
      at += 1
      if isLarger(process, than: largest) { largest = process }
    }
    guard largest !== main else { return false }
    main = largest
    (soleProcess, nextActivity) = (nil, 0)
    store.beginEpoch()
    return true
  }

  /// Reads the main process and the tree for an iteration's mark; the tree only without a rule for the main process.
  ///
  /// For growth only differences count. So pages that are shared after a fork count in each process: a correction in the
  /// middle of a repetition, or the batches of a cgroup, would look like growth.
  mutating func iterationReading(at time: Int64) -> (resident: Bytes?, tree: Bytes?) {
    let memory = mainReading(at: time)
    guard finder == nil else { return (memory?.resident, nil) }
    guard readsAll else {
      return (memory?.resident, Bytes(tree(with: memory, at: time)))
    }
    _ = readOthers(at: time)
    let others = tracked.reduce(0) { $0 + ($1 === main ? 0 : $1.lastAnonymous) }
    return (memory?.resident, Bytes(others + (memory?.resident.count ?? 0)))
  }

  /// Without a tracer the sum counts what processes share after a fork in each of them, and the cgroup only once.
  private func noteOthers() {
    let sum = min(anonymousSum, mostCounted)
    var at = 0
    while at < tracked.count {
      let process = tracked[at]
      at += 1
      if process.lastResident > 0 { process.noteOthers(sum - process.ownAnonymous) }
    }
  }

  /// How long to wait before reading slowly changing values again.
  ///
  /// A reading costs some 15 µs, and CPU time advances in steps of 10 ms anyway. Short-lived processes are read more
  /// often, so that at most a thirtieth of their life is missed at its end.
  private static func rereadInterval(at time: Int64) -> Int64 { min(40_000_000, time / 32) }

  /// The memory of the tree: that of the main process, and the anonymous memory of the others; `memory` has the values
  /// of the main process.
  ///
  /// The sum is exact unless processes share anonymous memory after a fork, or the tree holds shared memory that the
  /// main process has not mapped. A cgroup's count includes that, but is updated in batches (``CgroupMemoryReader``): the
  /// sum is corrected by as much as it is certainly wrong. What processes hold that have left the cgroup is added.
  ///
  /// While the main process is alone and its memory is unchanged since the last reading of its cgroup, the cgroup's is
  /// unchanged, too, except for tmpfs files that it writes without mapping them: the next reading shows those. Only a
  /// tracer that reports each new process makes it certain that the process is alone.
  private mutating func tree(with memory: MemoryReading?, at time: Int64) -> Int64 {
    let sum = anonymousSum + (memory == nil ? 0 : main?.filePages ?? 0)
    guard countsTree else { return sum }
    let isAlone = reportsAll && tracked.count == 1
    if let memory, isAlone, let soleProcess, soleProcess.level == memory.nonFileMemory, time < soleProcess.until {
      return lastTreeIsSum ? sum : lastTree
    }
    soleProcess = memory.flatMap { isAlone ? ($0.nonFileMemory, time + Self.rereadInterval(at: time)) : nil }
    let file = memory?.file.count ?? 0
    let counted = treeMemory?.read()?.count
    guard let counted else { return sum }
    let lag = CgroupMemoryReader.largestLag
    var outside = outsideSum
    if sum - file - outside > counted + lag, findOutside(at: time) { outside = outsideSum }
    let inside = sum - file - outside
    let least = main?.isOutside == true ? 0 : memory?.nonFileMemory ?? 0
    let corrected = max(min(max(inside, counted - lag), counted + lag), least)
    mostCounted = corrected + outside
    lastTreeIsSum = corrected == inside
    unmapped = corrected - inside
    return file + corrected + outside
  }

  /// The activity of the main process; nil once it has ended, and if the next reading is not due.
  private mutating func activity(at time: Int64) -> Activity? {
    guard time >= nextActivity else { return nil }
    nextActivity = time + Self.rereadInterval(at: time)
    return main?.activity(buffer: buffer)
  }

  /// Reads every process except the main one; returns how many of them have memory.
  mutating func readOthers(at time: Int64) -> Int {
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

  private var anonymousSum: Int64 {
    var (sum, at): (Int64, Int) = (0, 0)
    while at < tracked.count {
      sum += tracked[at].ownAnonymous
      at += 1
    }
    return sum
  }

  /// The values of the main process; nil while it is unknown, and once it has ended.
  mutating func mainReading(at time: Int64) -> MemoryReading? {
    main?.memory(at: time, buffer: buffer)
  }

  /// Removes processes whose files fail, because they were reaped; the tracer reports the end of traced ones.
  ///
  /// In a traced tree their events may still be unread: they stay until those have been taken.
  private mutating func forgetEnded(at time: Int64) {
    for process in tracked where !process.isFollowed && process.resident(at: time, buffer: buffer) == nil {
      guard processTree.isTraced else {
        retire(process)
        continue
      }
      process.wasReaped()
      missing.append(process)
    }
  }

  mutating func retire(_ process: TrackedProcess) {
    tracked.removeAll { $0 === process }
    known[process.pid] = nil
    treePeak = max(treePeak, process.treePeak)
    archive.add(process.record(isMain: finder != nil && process === main))
  }

  /// Adds the reading that a tracer made at the exit of a process.
  ///
  /// Each of its threads may report an exit; only the first one can change the tree's memory.
  mutating func appendEnd(of process: TrackedProcess, _ memory: MemoryReading, isFirst: Bool, at time: Int64) {
    soleProcess = nil
    _ = switchToLargest()
    process.noteOthers(anonymousSum - process.ownAnonymous)
    let isMain = process === main
    if lastTreeIsSum {
      lastTree = anonymousSum + (main?.filePages ?? 0)
    } else if isFirst, process.hasExecuted, process.firstSeen >= lastTreeReading {
      // The cgroup's last reading does not include this process; its memory is its own since its exec.
      lastTree += memory.nonFileMemory
    }
    if isMain { lastTree = max(lastTree, memory.resident.count) }
    append(isMain ? memory : nil, at: time)
  }

  /// Adds a reading that a tracer made; `memory` is that of the main process.
  mutating func append(_ memory: MemoryReading?, at time: Int64) {
    // The report of a stop may arrive slightly after a later reading.
    lastStored = max(time, lastStored)
    store.append(
      SampleStore.Reading(
        time: lastStored, process: main?.pid, memory: memory, tree: lastTree, processes: max(1, tracked.count)
      )
    )
  }
}

// MARK: - Discovery

extension SamplerState {
  /// Searches for new processes, and for the main one.
  mutating func discover(at time: Int64) {
    // So that a search without a descriptor does not go unnoticed.
    _ = ProcFile(path: "/proc/self/statm")
    if let attached = processTree.attached {
      for (pid, parent) in attached.all() { addUnknown(pid, parent: parent, at: time) }
    } else {
      addDescendants(at: time)
    }
    if countsTree {
      _ = readOthers(at: time)
    }
    var at = 0
    let count = tracked.count
    while at < count {
      let process = tracked[at]
      process.updateIdentity(at: time, isWatched: process === main, buffer: buffer)
      if !process.isAlive { process.followLivingThread(buffer: buffer) }
      at += 1
    }
    guard isSearching, let pid = finder?.find() else { return }
    main = known[pid] ?? add(pid, parent: LinuxCalls.parent(of: pid) ?? 0, at: time)
  }

  private mutating func addDescendants(at time: Int64) {
    var at = 0
    let count = walk.fill(from: processTree.supervisor)
    while at < count {
      let (pid, parent) = walk[at]
      addUnknown(pid, parent: parent, at: time)
      at += 1
    }
  }

  private mutating func addUnknown(_ pid: Int32, parent: Int32, at time: Int64) {
    if known[pid] == nil, !hasEnded(pid) { add(pid, parent: parent, at: time) }
  }

  /// Makes a process the main one if the rule names the program that it has executed.
  mutating func noteProgram(_ command: String, of process: TrackedProcess) {
    if isSearching, finder?.isMain(command: command) == true { main = process }
  }

  /// Whether an unknown process is a zombie whose end was already reported.
  private func hasEnded(_ pid: Int32) -> Bool {
    processTree.isTraced && ProcessStat(of: pid)?.isAlive != true
  }

  /// The final report; call it once, when the tree is empty.
  mutating func report(at time: Int64) -> SamplingReport {
    store.flush()
    for process in tracked {
      process.updateIdentity(at: time, isWatched: true, buffer: buffer)
      archive.add(process.record(isMain: finder != nil && process === main))
      treePeak = max(treePeak, process.treePeak)
    }
    var processes = archive.records.sorted { ($0.firstSeen, $0.id) < ($1.firstSeen, $1.id) }
    var samples = store.last(.max)
    let programs = programs(among: processes)
    let largest = programs.max { (processes[$0].peak, $1) < (processes[$1].peak, $0) }
    if finder == nil, let largest { processes[largest].isMain = true }
    if let tool {
      let isProgram = programs.count < processes.count && largest.map { !isOwn(processes[$0], of: tool) } == true
      if isProgram { samples.leaveOut(processes.filter { isOwn($0, of: tool) }.map(\.id)) }
      addedNotes.append(.behindTool(tool: tool.name, program: isProgram ? largest.map { processes[$0].command } : nil))
    }
    return SamplingReport(
      samples: samples,
      processes: processes,
      composition: composition,
      compositions: readings,
      kinds: kinds?.all ?? [],
      unmapped: countsTree ? unmappedFiles.largest : [],
      treeMethod: countsTree ? .cgroup : readings.contains { $0.proportional != nil } ? .proportional : .upperBound,
      treePeak: Bytes(treePeak),
      widestGap: .nanoseconds(widestGap),
      kills: kills,
      notes: notes + processes.filter { $0.isMain && $0.isClientOfRunner }.map { .runsElsewhere(command: $0.command) }
    )
  }

  private var notes: [RecordingNote] {
    var notes = addedNotes
    if ProcFile.refusals > refusalsBefore { notes.append(.tooFewDescriptors(limit: ResourceLimit.descriptors)) }
    if mostSwapped + mostHugeTLB > .zero { notes.append(.notResident(swapped: mostSwapped, hugeTLB: mostHugeTLB)) }
    if !countsTree, let note = unmappedFiles.note { notes.append(note) }
    if store.stride > 1 { notes.append(.downsampled(stride: store.stride)) }
    if let note = fullReadings.note { notes.append(note) }
    if archive.dropped > 0 { notes.append(.processesNotListed(count: archive.dropped)) }
    return notes
  }
}

extension MemoryReading {
  /// The memory of a process that a cgroup's values also count, in bytes.
  ///
  /// The kernel updates those in batches of 64 pages per CPU (MEMCG_CHARGE_BATCH, mm/memcontrol.c), so they may miss a
  /// small program altogether; the values of the process are exact.
  fileprivate var nonFileMemory: Int64 { anonymous.count + shared.count }
}
