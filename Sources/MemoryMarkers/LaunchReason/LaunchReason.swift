#if LaunchReason && os(Linux)

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import LaunchRecords

/// Determines at each start of a program how the previous run ended, and why the program was started.
///
/// A program that the OOM killer kills runs no handler and leaves no crash file. So each run keeps a record of its state,
/// which survives any kill, and the next run compares it with the evidence that the machine has: the kernel's log, the
/// counter of its cgroup, the boot id. An OOM kill is proven only by the kernel's log, which names the process. An end that
/// left no mark and no proof was a kill of unknown origin, or is inferred to be out of memory.
///
///     let launch = LaunchReason(appVersion: "1.4.2")
///     if case .outOfMemory(.active, let proof) = launch.startup { … }
///     launch.set(.active)
///
/// Create it once, early in `main`, and after daemon(3); the run is recorded until it ends or ``stop()`` is called, even if
/// the object is released. It never throws, and apart from the fdatasync(2) of the first store and of ``stop()`` nothing
/// waits for a disk. If the record cannot be written, one warning is printed to standard error, and ``notRecording`` says
/// why. Nothing is recorded in a forked child. `_exit` is not detected, unless ``noteExit()`` is called before it.
/// Under Highwater the reason is also sent, as the mark `launch.REASON`, and each change of activity as the mark
/// `activity.ACTIVITY`.
public final class LaunchReason: Sendable {
  /// Why this run was started.
  public let startup: StartupReason
  /// How the previous run ended; nil if there is none, or it is still running.
  public let previous: RunEnd?
  /// What the previous run knew at its last heartbeat; nil if there is none, or its record cannot be read.
  public let priorRun: PriorRun?
  /// The other instances that were started before this one and have ended, and how.
  ///
  /// Such as the old one of a rolling restart, if it ended after the new one had started. The oldest is first, and each is
  /// reported to one start only. Empty with another store than a ``FileRunStore``.
  public let endedInstances: [(run: PriorRun, end: RunEnd)]
  /// How many consecutive runs, up to the previous one, failed before they left ``Activity/starting``.
  public let consecutiveLaunchFailures: Int

  private struct State {
    var record: LaunchRecord
    /// Why this run is not recorded; nil if it is.
    var notRecording: NotRecording?
  }

  private let store: any PriorRunStore
  private let folders: SystemFolders
  private let lock = Lock()
  /// Protected by the lock.
  private nonisolated(unsafe) var state: State
  private let heartbeatThread = HeartbeatThread()
  /// When the next heartbeat is due, in nanoseconds since boot.
  private let nextTick = AtomicWord()

  /// How long a program may go on after a request to terminate until it has survived it, in nanoseconds: longer than
  /// `DefaultTimeoutStopSec` of systemd, 90 s.
  private let longestStop: UInt64

  /// Only one run of a process is recorded.
  private static let isClaimed = AtomicWord()

  /// Reads the record of the previous run, and starts the record of this one.
  ///
  /// - Parameters:
  ///   - store: Keeps the record.
  ///   - appVersion: The program's version; a change of it is an upgrade. At most 256 bytes are compared.
  ///   - crashDetector: Whether the program's own crash reporter knows that the previous run crashed.
  ///   - policy: How a run without any trace of its end is classified.
  ///   - heartbeat: Who updates the memory values of the record, once a second.
  ///   - onLaunch: Called with ``startup`` and ``previous`` before this returns.
  public convenience init(
    store: any PriorRunStore = FileRunStore.default,
    appVersion: String,
    crashDetector: (() -> Bool)? = nil,
    policy: Policy = .evidence,
    heartbeat: Heartbeat = .thread,
    onLaunch: ((StartupReason, RunEnd?) -> Void)? = nil
  ) {
    self.init(
      store: store, appVersion: appVersion, crashDetector: crashDetector, policy: policy, heartbeat: heartbeat,
      folders: SystemFolders()
    )
    onLaunch?(startup, previous)
  }

  /// The same with other system folders, for tests.
  package init(
    store: any PriorRunStore,
    appVersion: String,
    crashDetector: (() -> Bool)? = nil,
    policy: Policy = .evidence,
    heartbeat: Heartbeat = .thread,
    folders: SystemFolders,
    longestStop: UInt64 = 100_000_000_000
  ) {
    let prior = Self.loadPrior(from: store, policy: policy)
    var evidence = LaunchEvidence()
    var reason: NotRecording?
    var ended: [(run: PriorRun, end: RunEnd)] = []
    if case .notLoaded(let why) = prior {
      reason = why
    } else {
      evidence = Self.evidence(for: prior, appVersion, folders, crashDetector: crashDetector)
      ended = Self.endedInstances(in: store, beside: prior, evidence, folders, policy)
    }
    endedInstances = ended
    let decision = LaunchDecision(prior, evidence, policy)
    startup = decision.startup
    previous = decision.previous
    consecutiveLaunchFailures = decision.consecutiveLaunchFailures
    if case .found(let record) = prior { priorRun = PriorRun(record) } else { priorRun = nil }
    self.store = store
    self.folders = folders
    self.longestStop = longestStop
    if case .found = prior, evidence.priorIsAlive, startup == .concurrentInstance { reason = .otherInstance }
    var record = LaunchRecord()
    record.run = evidence.current
    record.launchFailures = UInt32(clamping: consecutiveLaunchFailures)
    // With the highest bit clear, a word of zeros is never a mark; see LaunchPage.
    record.tag = CurrentProgram.randomNumber >> 1
    state = State(record: record, notRecording: reason)
    if reason == nil { start(heartbeat) }
    sendMarks()
  }

  private func start(_ heartbeat: Heartbeat) {
    LaunchHandlers.begin()
    let reading = reading()
    nextTick.value = reading.bootTime + Self.interval
    change(.power) { record in
      record.last = reading
      record.oomKillsAtStart = reading.oomKills
    }
    guard isRecording else { return }
    (store as? FileRunStore)?.watch(tag: lock.withLock { state.record.tag })
    // The thread keeps this object alive: a run is recorded even if the program drops it.
    if heartbeat == .thread { heartbeatThread.start { self.tick() } }
  }
}

// MARK: - While the program runs

extension LaunchReason {
  /// The time between heartbeats, in nanoseconds; signs of an OOM kill seldom appear earlier.
  private static let interval: UInt64 = 1_000_000_000

  /// Whether this run is recorded.
  public var isRecording: Bool { notRecording == nil }

  /// Why this run is not recorded; nil if it is.
  public var notRecording: NotRecording? {
    LaunchHandlers.hasForked ? .forkedChild : lock.withLock { state.notRecording }
  }

  /// Records what the program is doing from now on; takes microseconds, on any thread.
  public func set(_ activity: Activity) {
    var isNew = false
    change { record in
      isNew = record.activity != activity.recorded
      record.activity = activity.recorded
    }
    if isNew { sendMark(of: activity) }
  }

  /// Updates the memory values of the record, unless that was done in the last second; call it often if the heartbeat is
  /// ``Heartbeat/manual``.
  public func tick() {
    let due = nextTick.value
    let now = Clock.sinceBoot()
    guard now >= due, !LaunchHandlers.hasForked, nextTick.compareExchange(due, now + Self.interval) else { return }
    let reading = reading()
    var isStopping = false
    change { record in
      record.last = reading
      isStopping = record.activity == .stopping
    }
    LaunchHandlers.isAlive(stoppingSince: isStopping ? 0 : now - min(now, longestStop))
  }

  /// Records that the program exits now, for programs that call `_exit` or have a store of their own.
  public func noteExit() {
    change { $0.exit = LaunchRecord.Exit(code: nil) }
  }

  /// Stops recording; the next start reports ``StartupReason/notMonitored``.
  public func stop() {
    heartbeatThread.stop()
    change(.power) { $0.isStopped = true }
    lock.withLock { state.notRecording = state.notRecording ?? .stopped }
  }

  /// Records that the program hangs, as its own watchdog has detected.
  public func hangBegan() {
    change { $0.hangBegan = Clock.sinceBoot() }
  }

  /// Records that the program responds again.
  public func hangEnded() {
    change { $0.hangBegan = nil }
  }

  /// Installs signal handlers that mark crashes and termination requests, and then continue as before: an earlier handler,
  /// such as the backtracer of the Swift runtime, is called, and without one the signal terminates the process.
  ///
  /// Recorded are crashes, requests to terminate (SIGTERM; SIGINT, SIGHUP and SIGQUIT if the program does not handle them)
  /// and the other signals that terminate a program, such as SIGPIPE and SIGALRM. A request that the program survives by
  /// 100 seconds no longer counts, unless it is ``Activity/stopping``.
  ///
  /// They run on the thread's alternate stack, if it has one; the calling thread gets one, other threads by
  /// ``prepareThread()``. They write to a ``FileRunStore`` only.
  public func installSignalHandlers() {
    guard isRecording else { return }
    LaunchHandlers.installSignalHandlers()
  }

  /// Gives the calling thread an alternate signal stack, if it has none: without one, the kernel kills a program whose
  /// thread overflows its stack before any handler can record that.
  public static func prepareThread() {
    LaunchHandlers.prepareThread()
  }

  private func change(_ durability: Durability = .process, _ edit: (inout LaunchRecord) -> Void) {
    guard !LaunchHandlers.hasForked else { return }
    lock.withLock {
      guard state.notRecording == nil else { return }
      edit(&state.record)
      do {
        try store.save(PriorRun(state.record), durability: durability)
      } catch {
        state.notRecording = .failed("\(error)")
        Warning.print("cannot record this launch: \(error)")
      }
    }
  }

  /// Under Highwater, which traces the program, the tracer is not a debugger.
  private func reading() -> LaunchRecord.Reading {
    var reading = folders.reading(cgroup: lock.withLock { state.record.run.cgroup })
    if Marks.isConnected { reading.tracer = 0 }
    return reading
  }
}

// MARK: - The previous run

extension LaunchReason {
  private static func loadPrior(from store: any PriorRunStore, policy: Policy) -> PriorRecord {
    guard policy != .off else { return .notLoaded(.disabled) }
    guard !CurrentProgram.isTestHost else { return .notLoaded(.unitTestHost) }
    guard isClaimed.exchange(1) == 0 else { return .notLoaded(.secondInProcess) }
    do {
      return try store.load().map { .found($0.record) } ?? .missing
    } catch RunStoreError.heldByAnotherProcess {
      return .locked
    } catch {
      return .unreadable("\(error)")
    }
  }

  private static func evidence(
    for prior: PriorRecord,
    _ appVersion: String,
    _ folders: SystemFolders,
    crashDetector: (() -> Bool)?
  ) -> LaunchEvidence {
    var evidence = LaunchEvidence()
    evidence.current = LaunchRecord.stored(folders.currentRun(appVersion: appVersion))
    guard case .found(let record) = prior else {
      evidence.current.logEnd = folders.searchLog(for: nil).newest
      return evidence
    }
    evidence.observe(record, in: folders)
    evidence.crashWasDetected = crashDetector?() ?? false
    return evidence
  }

  /// Reports the ended instances besides the previous run, by the same evidence.
  private static func endedInstances(
    in store: any PriorRunStore,
    beside prior: PriorRecord,
    _ evidence: LaunchEvidence,
    _ folders: SystemFolders,
    _ policy: Policy
  ) -> [(run: PriorRun, end: RunEnd)] {
    var ended: [(run: PriorRun, end: RunEnd)] = []
    (store as? FileRunStore)?.clearEnded { record in
      // The previous run's record is still in the file that was taken over.
      if case .found(let previous) = prior, previous.tag == record.tag { return false }
      var evidence = evidence
      evidence.observe(record, in: folders)
      // The program's crash detector knows of the previous run only.
      evidence.crashWasDetected = false
      // There is none for a run whose process or daemon is alive.
      guard let end = LaunchDecision(.found(record), evidence, policy).previous else { return false }
      let index = ended.firstIndex { $0.run.record.order > record.order } ?? ended.endIndex
      ended.insert((PriorRun(record), end), at: index)
      return true
    }
    return ended
  }

  private func sendMarks() {
    guard startup != .notEvaluated, Marks.isConnected else { return }
    sendMark(of: .starting)
    Marks.mark("launch.\(startup.word)")
    guard consecutiveLaunchFailures > 0 else { return }
    Marks.value("launch.failures", Double(consecutiveLaunchFailures), unit: "launches")
  }

  /// Lets Highwater report what the program was doing when it was killed.
  private func sendMark(of activity: Activity) {
    guard Marks.isConnected else { return }
    Marks.mark("activity.\(activity.word)")
  }
}

#endif
