import GateCore

/// What a sampler knows, and how one turn of its loop adds to it.
///
/// A turn in which no process is new or gone allocates nothing. Hence `while` and no `for` in what each turn does: in a
/// build without optimisation an iterator allocates.
struct SamplerState: ~Copyable {
  /// How many processes have their files held open; many systems allow a process 1024 descriptors.
  private static let mostKeptFiles = 300
  /// How many processes are described in the report.
  private static let mostRecords = 4096

  private let family: Family
  private var finder: MainProcessFinder?
  private(set) var main: TrackedProcess?
  private var tracked: [TrackedProcess] = []
  private var known: Set<Int32> = []
  private var gone: [ProcessRecord] = []
  private var unrecorded = 0
  private(set) var store: SampleStore
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
  private let walk = LinuxCalls.WalkBuffer(capacity: 8192)
  private var composition: Composition?
  private var remarks: [String] = []
  private var lastReading: Int64?
  private var widestGap: Int64 = 0

  /// Starts with the leader alone, which is the main process where no rule names another.
  init(family: Family, main rule: Target.MainProcess?, capacity: Int) {
    self.family = family
    finder = rule.map { MainProcessFinder(family: family, rule: $0) }
    store = SampleStore(capacity: capacity)
    tracked.reserveCapacity(1024)
    known.reserveCapacity(1024)
    let leader = add(family.leader, parent: family.shepherd, at: 0)
    if finder == nil { main = leader }
  }

  deinit {
    buffer.deallocate()
  }

  /// Whether the main process is still looked for.
  var isSearching: Bool { finder != nil && main == nil }

  @discardableResult
  private mutating func add(_ pid: Int32, parent: Int32, at time: Int64) -> TrackedProcess {
    let process = TrackedProcess(
      pid: pid, parent: parent, time: time, keepsFile: tracked.count < Self.mostKeptFiles
    )
    process.look(at: time, isWatched: true, buffer: buffer)
    tracked.append(process)
    known.insert(pid)
    return process
  }
}

// MARK: - Reading

extension SamplerState {
  /// Reads every known process once.
  mutating func sweep(at time: Int64) {
    var figures: MemoryFigures?
    var (tree, processes, ended): (Int64, Int64, Int) = (0, 0, 0)
    var at = 0
    while at < tracked.count {
      let process = tracked[at]
      at += 1
      if process === main { figures = mainFigures(at: time) }
      if process === main, let figures {
        tree += figures.resident.count
        processes += 1
      } else if let bytes = process.resident(at: time, buffer: buffer) {
        tree += bytes
        if bytes > 0 { processes += 1 }
      } else {
        ended += 1
      }
    }
    if ended > 0 { forgetEnded(at: time) }
    guard processes > 0 else {
      lastReading = nil
      return
    }
    if let lastReading { widestGap = max(widestGap, time - lastReading) }
    lastReading = time
    store.append(
      SampleStore.Reading(
        time: time, resident: figures?.resident.count ?? -1, peak: figures?.peak.count ?? 0,
        anonymous: figures?.anonymous.count ?? 0, file: figures?.file.count ?? 0,
        shared: figures?.shared.count ?? 0, tree: tree, processes: processes
      )
    )
  }

  /// The figures of the main process; nil while it is unknown, and once it has ended.
  mutating func mainFigures(at time: Int64) -> MemoryFigures? {
    guard let main else { return nil }
    let wasAlive = main.isAlive
    if let figures = main.figures(at: time, buffer: buffer) { return figures }
    // It has ended, or only its first thread has. This is asked once here, and again at each search.
    guard wasAlive, main.resident(at: time, buffer: buffer) != nil else { return nil }
    return main.goThroughLivingThread(buffer: buffer) ? main.figures(at: time, buffer: buffer) : nil
  }

  /// Takes the processes whose files fail out of the list: they are reaped.
  private mutating func forgetEnded(at time: Int64) {
    for at in tracked.indices.reversed() {
      let process = tracked[at]
      guard process.resident(at: time, buffer: buffer) == nil else { continue }
      tracked.remove(at: at)
      known.remove(process.pid)
      if gone.count < Self.mostRecords || process === main {
        gone.append(process.record(isMain: process === main))
      } else {
        unrecorded += 1
      }
    }
  }
}

// MARK: - Finding

extension SamplerState {
  /// Looks for processes that are new, and for the main one.
  mutating func discover(at time: Int64) {
    var (at, count) = (0, walk.fill(from: family.shepherd))
    while at < count {
      let (pid, parent) = walk[at]
      if !known.contains(pid) { add(pid, parent: parent, at: time) }
      at += 1
    }
    (at, count) = (0, tracked.count)
    while at < count {
      let process = tracked[at]
      process.look(at: time, isWatched: process === main, buffer: buffer)
      if !process.isAlive { _ = process.goThroughLivingThread(buffer: buffer) }
      at += 1
    }
    guard isSearching, let pid = finder?.find() else { return }
    main = tracked.first { $0.pid == pid } ?? add(pid, parent: LinuxCalls.parent(of: pid) ?? 0, at: time)
  }

  mutating func take(_ composition: Composition?) {
    if let composition { self.composition = composition }
  }

  /// Adds a sentence to the report.
  mutating func remark(_ sentence: String) {
    remarks.append(sentence)
  }

  /// All that was seen; ends the recording.
  mutating func report(at time: Int64) -> SamplingReport {
    store.flush()
    for process in tracked { process.look(at: time, isWatched: true, buffer: buffer) }
    let records = gone + tracked.map { $0.record(isMain: $0 === main) }
    return SamplingReport(
      samples: store.last(.max),
      processes: records.sorted { ($0.firstSeen, $0.id) < ($1.firstSeen, $1.id) },
      composition: composition
        ?? store.lastFigures.map {
          Composition(anonymous: $0.anonymous, file: $0.file, shared: $0.shared)
        },
      widestGap: .nanoseconds(widestGap),
      notes: notes
    )
  }

  private var notes: [String] {
    var notes = remarks
    if store.stride > 1 {
      notes.append("the repetition was long: of each \(store.stride) readings the highest was kept")
    }
    if unrecorded > 0 { notes.append("\(unrecorded) more processes were seen than are listed") }
    return notes
  }
}
