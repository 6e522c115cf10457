import GateCore
import Glibc
import Synchronization

/// Reads the memory of a family at intervals, on a thread of its own.
///
/// What counts as the tree: every living descendant of the shepherd with its resident memory, from the moment at which
/// it is found. A forked child counts before its exec too, since its pages are real, though shared with its parent; a
/// child that borrows its parent's memory (between vfork and exec, told by kcmp(2)) does not. So the tree is an upper
/// bound that counts shared pages more than once (and where kcmp is refused, a borrower too, for the instant to its exec).
///
/// The first readings are made in `init`, so that even the shortest program has some. Every method may be called from
/// any thread; ``start()`` and ``stop()`` once each.
final class Sampler: Sendable {
  private struct Life {
    var thread: PosixThread
    var wake: Wakeup
  }

  private let family: Family
  private let interval: Duration
  private let state: Mutex<SamplerState>
  private let life = Mutex<Life?>(nil)

  /// Makes the first reading; `main` says which process is the main one, nil being the leader.
  init(
    family: Family,
    interval: Duration,
    main: Target.MainProcess?,
    capacity: Int = SampleStore.standardCapacity
  ) {
    self.family = family
    self.interval = interval
    var state = SamplerState(family: family, main: main, capacity: capacity)
    state.sweep(at: Self.age(of: family))
    self.state = Mutex(state)
  }

  /// The time since exec, in nanoseconds.
  private static func age(of family: Family) -> Int64 {
    LinuxCalls.monotonicNanoseconds() - family.startedAt.nanoseconds
  }

  /// Starts the thread; where none can be made, the report says so in a note.
  func start() {
    do throws(SystemError) {
      let wake = try Wakeup()
      let thread = try PosixThread(named: "hw-sampler") { self.loop(wakingOn: wake.descriptor) }
      life.withLock { $0 = Life(thread: thread, wake: wake) }
    } catch {
      state.withLock { $0.remark("there were no readings but the first and the last: \(error.problem)") }
    }
  }

  /// Makes a last reading, and ends the thread.
  func stop() -> SamplingReport {
    if let life = life.withLock({ $0.take() }) {
      life.wake.raise()
      life.thread.join()
    }
    return state.withLock { state in
      let time = Self.age(of: family)
      state.sweep(at: time)
      return state.report(at: time)
    }
  }

  /// The process id of the main process; nil while it is unknown.
  ///
  /// It stays when the process has ended.
  var mainProcess: Int32? {
    state.withLock { $0.main?.pid }
  }

  /// The main process's resident memory, read at once; nil where it is unknown or has ended.
  func residentNow() -> Bytes? {
    state.withLock { $0.mainFigures(at: Self.age(of: family))?.resident }
  }

  /// The last samples, at most `count`, in the order of time.
  func recent(_ count: Int) -> [Sample] {
    state.withLock { $0.store.last(count) }
  }

  /// Reads what the main process's memory consists of; for the moment before the target is stopped.
  ///
  /// It goes through all mappings (about 12 ms per GiB), which holds up the target's own mmap calls meanwhile.
  func takeComposition() {
    guard let pid = mainProcess else { return }
    let composition = CompositionReader.composition(of: pid)
    state.withLock { $0.take(composition) }
  }
}

// MARK: - The thread

extension Sampler {
  private func loop(wakingOn wake: Int32) {
    let seed = UInt64(bitPattern: Int64(family.startedAt.nanoseconds)) ^ UInt64(bitPattern: Int64(family.leader))
    var clock = SamplerClock(interval: interval, seed: seed)
    while true {
      search(&clock)
      let before = LinuxCalls.threadNanoseconds()
      state.withLock { $0.sweep(at: Self.age(of: family)) }
      let cost = LinuxCalls.threadNanoseconds() - before
      compose(&clock)
      let next = family.startedAt + .nanoseconds(clock.nextSweep(after: Self.age(of: family), cost: cost))
      if LinuxCalls.sleep(until: next, wakingOn: wake) || family.isDispersed { return }
    }
  }

  private func search(_ clock: inout SamplerClock) {
    let now = Self.age(of: family)
    guard now >= clock.nextSearch else { return }
    let before = LinuxCalls.threadNanoseconds()
    let isSearching = state.withLock { state in
      state.discover(at: now)
      return state.isSearching
    }
    clock.searched(at: now, cost: LinuxCalls.threadNanoseconds() - before, isSearching: isSearching)
  }

  private func compose(_ clock: inout SamplerClock) {
    let now = Self.age(of: family)
    guard now >= clock.nextComposition else { return }
    takeComposition()
    clock.composed(at: now, took: Self.age(of: family) - now)
  }
}
