import GateCore
import Glibc
import LinuxSystem
import Synchronization

/// Reads the memory of a tree at intervals, on its own thread.
///
/// Unless a rule names the main process, it is the largest one at each time. The memory of the tree is that of the main
/// process and the anonymous memory of all other living descendants of the supervisor (``TreeMethod``). A forked child
/// counts before its exec, too, by what it has grown; a child that shares its parent's memory (between vfork and exec)
/// does not.
///
/// `init` makes the first reading, so that even the shortest program has one. All methods are thread-safe; call
/// ``start()``, ``stop()`` and ``report()`` once each.
final class Sampler: Sendable {
  private struct Worker {
    var thread: PosixThread
    var wake: Wakeup
  }

  private let processTree: ProcessTree
  private let interval: Duration
  let state: Mutex<SamplerState>
  private let worker = Mutex<Worker?>(nil)

  /// Makes the first reading; `main` is the rule for the main process, nil for the largest one, or for the largest that
  /// the build tool has started.
  ///
  /// If `readsKinds`, the kinds of memory of all processes are read as well.
  init(
    processTree: ProcessTree,
    interval: Duration,
    main: Target.MainProcess?,
    behind tool: BuildTool? = nil,
    cgroup: Cgroup? = nil,
    readsKinds: Bool = false,
    capacity: Int = SampleStore.standardCapacity
  ) {
    self.processTree = processTree
    self.interval = interval
    var state = SamplerState(processTree: processTree, cgroup: cgroup, main: main, behind: tool, capacity: capacity)
    if readsKinds { state.kinds = KindReadings(interval: interval) }
    state.sweep(at: Self.age(of: processTree))
    self.state = Mutex(state)
  }

  /// The time since exec, in nanoseconds.
  private static func age(of processTree: ProcessTree) -> Int64 {
    MonotonicTime.now().nanoseconds - processTree.startedAt.nanoseconds
  }

  /// The time since exec, in nanoseconds.
  var age: Int64 { Self.age(of: processTree) }

  /// Starts the thread; if that fails, the report has a note.
  func start() {
    do throws(SystemFailure) {
      let wake = try Wakeup()
      let thread = try SystemFailure.of(.thread) { () throws(ErrorNumber) in
        try PosixThread(named: "hw-sampler") { self.loop(wakingOn: wake.descriptor) }
      }
      worker.withLock { $0 = Worker(thread: thread, wake: wake) }
    } catch {
      state.withLock { $0.add(.notSampled(failure: error)) }
    }
  }

  /// Stops the thread, and makes a last reading.
  func stop() {
    if let worker = worker.withLock({ $0.take() }) {
      worker.wake.raise()
      worker.thread.join()
    }
    sweep()
  }

  /// From now on Highwater itself sends SIGKILL.
  func willKill() {
    let time = Self.age(of: processTree)
    state.withLock { $0.ownKills = min($0.ownKills, time) }
  }

  /// Reads the peaks of processes that run on, before the tree lets go of them.
  func readLastPeaks() {
    state.withLock { state in
      state.takeTraceEvents()
      state.readLastPeaks(at: Self.age(of: processTree))
    }
  }

  /// The final report; call it when the tree is empty, so that it includes how every process ended.
  func report() -> SamplingReport {
    processTree.collect()
    return state.withLock { state in
      state.takeTraceEvents()
      return state.report(at: Self.age(of: processTree))
    }
  }

  /// The pid of the main process, also after its end; nil while it is unknown.
  var mainProcess: Int32? {
    state.withLock { $0.main?.pid }
  }

  /// The last samples, at most `count`, in order of time.
  func recent(_ count: Int) -> [Sample] {
    state.withLock { $0.store.last(count) }
  }
}

// MARK: - Readings on request

extension Sampler {
  /// The memory at a mark; see ``Mark``.
  struct Level {
    var time: Duration
    var process: Int32 = 0
    var resident: Bytes?
    var tree: Bytes?
    var peakBefore: Bytes?
  }

  /// What is read at a mark besides the main process's memory.
  enum MarkReading {
    case plain
    /// The memory of the tree.
    case tree
    /// The tree, and the high-water mark, which is reset.
    case peak
  }

  /// Reads the main process's memory for a mark, with the time since exec.
  ///
  /// Resets the high-water mark at the beginning of a phase, so that each phase has its own, but only while the tree is
  /// frozen in its cgroup: otherwise a peak between the reading and the reset would be lost.
  func level(reading: MarkReading) -> Level {
    state.withLock { state in
      let time = Self.age(of: processTree)
      var level = Level(time: .nanoseconds(time))
      switch reading {
      case .plain: level.resident = state.mainReading(at: time)?.resident
      case .tree: (level.resident, level.tree) = state.iterationReading(at: time)
      case .peak:
        (level.resident, level.peakBefore) = state.beginPhase(at: time)
        level.tree = state.iterationReading(at: time).tree
      }
      level.process = state.main?.pid ?? 0
      return level
    }
  }

  /// Reads the composition of the main process's memory just before the target is stopped.
  ///
  /// Reads all mappings (about 12 ms per GiB), which blocks the target's mmap calls meanwhile.
  func takeFinalComposition() {
    guard let composition = readComposition() else { return }
    state.withLock { $0.composition = composition }
  }

  /// The same at a mark, unless the last reading was too recent: readings take at most 1 % of the time.
  func takeComposition() {
    guard state.withLock({ $0.mayReadMappings(at: Self.age(of: processTree)) }) else { return }
    _ = readComposition()
  }

  private func readComposition() -> Composition? {
    let begin = Self.age(of: processTree)
    guard let folder = state.withLock({ $0.main?.folder }),
      let composition = CompositionReader.composition(inFolder: folder)
    else { return nil }
    let end = Self.age(of: processTree)
    let reading = CompositionReading(time: .nanoseconds(begin), composition: composition)
    state.withLock { $0.note(reading, took: end - begin) }
    return composition
  }
}

// MARK: - The thread

extension Sampler {
  private func loop(wakingOn wake: Int32) {
    let seed =
      UInt64(bitPattern: Int64(processTree.startedAt.nanoseconds)) ^ UInt64(bitPattern: Int64(processTree.leader))
    var clock = SamplerClock(interval: interval, seed: seed)
    var spent = ThreadTime.nanoseconds()
    while true {
      let searchCost = search(&clock)
      sweep()
      let mappingsCost = sumMappings(&clock) + listFiles(inCgroup: true) + readKinds()
      let before = spent
      spent = ThreadTime.nanoseconds()
      // Includes the wake-up, which is the larger part of a reading's cost.
      let cost = spent - before - searchCost - mappingsCost
      let next = processTree.startedAt + .nanoseconds(clock.nextSweep(after: Self.age(of: processTree), cost: cost))
      if LinuxCalls.sleep(until: next, wakingOn: wake) || processTree.isEmpty { return }
    }
  }

  /// Reads the tree once; returns the time of the reading since exec.
  @discardableResult
  func sweep() -> Duration {
    state.withLock { state in
      state.takeTraceEvents()
      let time = Self.age(of: processTree)
      state.sweep(at: time)
      return .nanoseconds(time)
    }
  }

  /// Searches for new processes if that is due; returns the CPU time that it took.
  private func search(_ clock: inout SamplerClock) -> Int64 {
    let now = Self.age(of: processTree)
    let (isSearching, isReported) = state.withLock { ($0.isSearching, $0.isEachProcessReported) }
    guard clock.isSearchDue(at: now, isSearching: isSearching, isReported: isReported) else { return 0 }
    let cost = ThreadTime.nanoseconds { state.withLock { $0.discover(at: now) } }
    clock.didSearch(at: now, cost: cost)
    return cost
  }

  /// Sums the mappings of the processes, one by one, if that is due; returns the CPU time that it took.
  private func sumMappings(_ clock: inout SamplerClock) -> Int64 {
    let begin = Self.age(of: processTree)
    guard begin >= clock.nextComposition else { return 0 }
    let cost = ThreadTime.nanoseconds {
      let sums = state.withLock { $0.processesToSum }.map { (pid: $0.pid, totals: MappingTotals(inFolder: $0.folder)) }
      state.withLock { state in
        for (pid, totals) in sums {
          if let totals { state.note(totals, of: pid, at: begin) }
        }
      }
      _ = listFiles(inCgroup: false)
    }
    let end = Self.age(of: processTree)
    clock.didReadComposition(at: end, took: end - begin)
    return cost
  }

  /// Lists the files in memory if the cgroup counts more of them, or without one; returns the CPU time that it took.
  private func listFiles(inCgroup: Bool) -> Int64 {
    let begin = Self.age(of: processTree)
    let (due, amount) = state.withLock { state in
      (state.countsTree == inCgroup ? state.filesToList(at: begin) : nil, state.unmappedAmount)
    }
    guard let due else { return 0 }
    return ThreadTime.nanoseconds {
      let files = due.largest()
      let end = Self.age(of: processTree)
      state.withLock { $0.unmappedFiles.note(files, holding: amount, at: end, took: end - begin) }
    }
  }
}
