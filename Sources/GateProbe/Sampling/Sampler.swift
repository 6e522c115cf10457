import GateCore
import Glibc
import Synchronization

/// Reads the memory of a tree at intervals, on a thread of its own.
///
/// What counts as the tree: where the tree has a cgroup, the anonymous and shared memory that the kernel counts for
/// that, each page once. Else every living descendant of the supervisor with its resident memory, less what a reading of
/// `smaps_rollup` has shown to be shared: an upper bound, as long as not every process was read. A forked child counts
/// before its exec too, since its pages are real; a child that borrows its parent's memory (between vfork and exec)
/// does not.
///
/// The first readings are made in `init`, so that even the shortest program has some. Every method may be called from
/// any thread; ``start()``, ``stop()`` and ``report()`` once each.
final class Sampler: Sendable {
  private struct Life {
    var thread: PosixThread
    var wake: Wakeup
  }

  private let processTree: ProcessTree
  private let interval: Duration
  private let state: Mutex<SamplerState>
  private let life = Mutex<Life?>(nil)

  /// Makes the first reading; `main` says which process is the main one, nil being the leader.
  init(
    processTree: ProcessTree,
    interval: Duration,
    main: Target.MainProcess?,
    cgroup: Cgroup? = nil,
    capacity: Int = SampleStore.standardCapacity
  ) {
    self.processTree = processTree
    self.interval = interval
    var state = SamplerState(processTree: processTree, cgroup: cgroup, main: main, capacity: capacity)
    state.sweep(at: Self.age(of: processTree))
    self.state = Mutex(state)
  }

  /// The time since exec, in nanoseconds.
  private static func age(of processTree: ProcessTree) -> Int64 {
    LinuxCalls.monotonicNanoseconds() - processTree.startedAt.nanoseconds
  }

  /// Starts the thread; where none can be made, the report says so in a note.
  func start() {
    do throws(SystemFailure) {
      let wake = try Wakeup()
      let thread = try PosixThread(named: "hw-sampler") { self.loop(wakingOn: wake.descriptor) }
      life.withLock { $0 = Life(thread: thread, wake: wake) }
    } catch {
      state.withLock { $0.add(.notSampled(error)) }
    }
  }

  /// Makes a last reading, and ends the thread.
  func stop() {
    if let life = life.withLock({ $0.take() }) {
      life.wake.raise()
      life.thread.join()
    }
    sweep()
  }

  /// All that was seen; to be asked for when nothing is left of the tree, so that the ends of all are known.
  func report() -> SamplingReport {
    processTree.collect()
    return state.withLock { state in
      state.takeTraceEvents()
      return state.report(at: Self.age(of: processTree))
    }
  }

  /// The process id of the main process; nil while it is unknown.
  ///
  /// It stays when the process has ended.
  var mainProcess: Int32? {
    state.withLock { $0.main?.pid }
  }

  /// The last samples, at most `count`, in the order of time.
  func recent(_ count: Int) -> [Sample] {
    state.withLock { $0.store.last(count) }
  }
}

// MARK: - At an instant

extension Sampler {
  /// The main process's memory at a mark; see ``Mark``.
  typealias Level = (time: Duration, resident: Bytes?, peakBefore: Bytes?)

  /// The main process's memory at a mark, with the time since exec.
  ///
  /// Where a phase begins the high-water mark is set back, so that the phase gets one of its own. That is done only
  /// while the tree stands still in its cgroup, for else a peak between reading and setting would be lost.
  func level(beginningPhase: Bool) -> Level {
    state.withLock { state in
      let time = Self.age(of: processTree)
      let (resident, peakBefore) =
        beginningPhase ? state.beginPhase(at: time) : (state.mainReading(at: time)?.resident, nil)
      return (.nanoseconds(time), resident, peakBefore)
    }
  }

  /// Reads what the main process's memory consists of, for the moment before the target is stopped.
  ///
  /// It goes through all mappings (about 12 ms per GiB), which holds up the target's own mmap calls meanwhile.
  func takeFinalComposition() {
    guard let composition = readComposition() else { return }
    state.withLock { $0.composition = composition }
  }

  /// The same at a mark, where the last one is long enough ago: it takes at most a hundredth of the time.
  func takeComposition() {
    guard state.withLock({ $0.mayReadMappings(at: Self.age(of: processTree)) }) else { return }
    _ = readComposition()
  }

  private func readComposition() -> Composition? {
    let begin = Self.age(of: processTree)
    guard let pid = mainProcess, let composition = CompositionReader.composition(of: pid) else { return nil }
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
    // The wake-up is the larger part of what a reading costs.
    var costsBegin = LinuxCalls.threadNanoseconds()
    while true {
      let searchCost = search(&clock)
      sweep()
      let cost = LinuxCalls.threadNanoseconds() - costsBegin - searchCost
      sumMappings(&clock)
      let next = processTree.startedAt + .nanoseconds(clock.nextSweep(after: Self.age(of: processTree), cost: cost))
      costsBegin = LinuxCalls.threadNanoseconds()
      if LinuxCalls.sleep(until: next, wakingOn: wake) || processTree.isEmpty { return }
    }
  }

  /// Reads everything once; the time of that since exec.
  @discardableResult
  func sweep() -> Duration {
    state.withLock { state in
      state.takeTraceEvents()
      let time = Self.age(of: processTree)
      state.sweep(at: time)
      return .nanoseconds(time)
    }
  }

  /// Looks for new processes where that is due; what it took of the CPU.
  private func search(_ clock: inout SamplerClock) -> Int64 {
    let now = Self.age(of: processTree)
    guard now >= clock.nextSearch else { return 0 }
    let before = LinuxCalls.threadNanoseconds()
    let (isSearching, isReported) = state.withLock { state in
      state.discover(at: now)
      return (state.isSearching, state.reportsAll)
    }
    let cost = LinuxCalls.threadNanoseconds() - before
    clock.searched(at: now, cost: cost, isSearching: isSearching, isReported: isReported)
    return cost
  }

  /// Sums the mappings of the processes, one after the other.
  private func sumMappings(_ clock: inout SamplerClock) {
    let begin = Self.age(of: processTree)
    guard begin >= clock.nextComposition else { return }
    let sums = state.withLock { $0.processesToSum }.map { (pid: $0, totals: MappingTotals(of: $0)) }
    state.withLock { state in
      for (pid, totals) in sums {
        if let totals { state.note(totals, of: pid, at: begin) }
      }
    }
    let end = Self.age(of: processTree)
    clock.composed(at: end, took: end - begin)
  }
}
