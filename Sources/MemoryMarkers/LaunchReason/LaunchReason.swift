#if LaunchReason

import Glibc
import LaunchRecords

/// Tells at each start of a program how the run before ended, and why the program starts.
///
/// A program that is killed for memory runs no handler and leaves no crash file. So each run keeps a record of what it
/// does, which outlives any kill, and the next one holds it against what the machine can prove: the counter of its
/// cgroup, the kernel's log, the boot. What is no crash, exit, request, upgrade or restart is out of memory or an
/// unknown hand, and is never called proven.
///
///     let launch = LaunchReason(appVersion: "1.4.2")
///     if case .outOfMemory(.active, let proof) = launch.startup { … }
///     launch.set(.active)
///
/// To be made once, early in `main`. Nothing of it throws, and but for the first start's and ``stop()``'s fdatasync(2)
/// nothing waits for a disk. Where the record cannot be written, that is said once on the standard error, and it is off.
/// A forked child lets go: in it nothing is recorded. `_exit` is not seen, unless ``noteExit()`` comes before it. Under
/// Highwater's gate the reason is also sent, as the mark `launch.REASON`, and each change of activity as the mark
/// `activity.ACTIVITY`.
public final class LaunchReason: Sendable {
  /// Why this run was started.
  public let startup: StartupReason
  /// How the run before ended; nil where there is none, or it is not over.
  public let previous: RunEnd?
  /// How many runs in a row, up to the one before, ended badly before they had left ``Activity/starting``.
  public let consecutiveLaunchFailures: Int

  private struct State {
    var record: LaunchRecord
    /// Whether this run is recorded.
    var isOn: Bool
  }

  private let store: any PriorRunStore
  private let folders: SystemFolders
  private let lock = Lock()
  /// Used under the lock only.
  private nonisolated(unsafe) var state: State
  private let beats = HeartbeatThread()
  /// When the next heartbeat is due, in nanoseconds since boot.
  private let nextTick = SharedWord()

  /// One run a process is recorded.
  private static let isClaimed = SharedWord()

  /// Looks at the record of the run before, and begins this run's.
  ///
  /// - Parameters:
  ///   - store: Keeps the record.
  ///   - appVersion: The program's version; another one than the run before had is an upgrade. At most 256 bytes count.
  ///   - crashDetector: Whether the program knows, from a crash reporter of its own, that the run before crashed.
  ///   - policy: What is made of a run that left no trace of its end.
  ///   - heartbeat: Who keeps the record's memory figures up to date, each second.
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

  /// The same with folders of a test's own.
  package init(
    store: any PriorRunStore,
    appVersion: String,
    crashDetector: (() -> Bool)? = nil,
    policy: Policy = .evidence,
    heartbeat: Heartbeat = .thread,
    folders: SystemFolders
  ) {
    let finding = Self.prior(in: store, policy: policy)
    var evidence = LaunchEvidence()
    if finding != .notAsked {
      evidence = Self.evidence(of: finding, appVersion, folders, crashDetector: crashDetector)
    }
    let decision = LaunchDecision(finding, evidence, policy)
    startup = decision.startup
    previous = decision.previous
    consecutiveLaunchFailures = decision.consecutiveLaunchFailures
    self.store = store
    self.folders = folders
    let isOn = finding != .notAsked && startup != .concurrentInstance
    var record = LaunchRecord()
    record.surroundings = evidence.present
    record.launchFailures = UInt32(clamping: consecutiveLaunchFailures)
    // Without the highest bit a word of zeros is never a mark; see LaunchPage.
    record.tag = LaunchRoom.random >> 1
    state = State(record: record, isOn: isOn)
    if isOn { begin(heartbeat) }
    report()
  }

  deinit {
    beats.stop()
  }

  private func begin(_ heartbeat: Heartbeat) {
    let reading = reading()
    nextTick.value = reading.bootTime + Self.interval
    change(.power) { record in
      record.last = reading
      record.oomKillsAtStart = reading.oomKills
    }
    let (isOn, tag) = lock.locked { (state.isOn, state.record.tag) }
    guard isOn else { return }
    (store as? FileRunStore)?.watch(tag: tag)
    if heartbeat == .thread { beats.start { [weak self] in self?.tick() } }
  }
}

// MARK: - While the program runs

extension LaunchReason {
  /// Between heartbeats, in nanoseconds; a kill for memory seldom announces itself earlier.
  private static let interval: UInt64 = 1_000_000_000

  /// Says what the program is doing from now on; microseconds, and from any thread.
  public func set(_ activity: Activity) {
    var isNew = false
    change { record in
      isNew = record.activity != activity.recorded
      record.activity = activity.recorded
    }
    if isNew { report(activity) }
  }

  /// Brings the record's memory figures up to date, if that was not done in the last second; to be called often where
  /// the heartbeat is ``Heartbeat/manual``.
  public func tick() {
    let due = nextTick.value
    let now = Clock.sinceBoot()
    guard now >= due, !LaunchRoom.hasForked, nextTick.replace(due, by: now + Self.interval) else { return }
    let reading = reading()
    change { $0.last = reading }
  }

  /// Says that the program exits by itself now, for one that ends by `_exit` or has a store of its own.
  public func noteExit() {
    change { $0.exit = LaunchRecord.Exit(code: nil) }
  }

  /// Ends the recording; the next start will say ``StartupReason/notMonitored``.
  public func stop() {
    beats.stop()
    change(.power) { $0.isStopped = true }
    lock.locked { state.isOn = false }
  }

  /// Says that the program's own watchdog waits in vain for the program.
  public func hangBegan() {
    change { $0.hangBegan = Clock.sinceBoot() }
  }

  /// Says that the program goes on.
  public func hangEnded() {
    change { $0.hangBegan = nil }
  }

  /// Installs signal handlers that mark crashes and requests to end, then do what was to be done before: an earlier
  /// handler, such as the backtracer of Swift's runtime, is called, and without one the process dies by the signal.
  ///
  /// They run on the thread's alternate stack, if it has one; this thread gets one. They mark in a ``FileRunStore`` only.
  public func installSignalHandlers() {
    guard lock.locked({ state.isOn }), !LaunchRoom.hasForked else { return }
    LaunchRoom.installSignalHandlers()
  }

  private func change(_ durability: Durability = .process, _ edit: (inout LaunchRecord) -> Void) {
    guard !LaunchRoom.hasForked else { return }
    lock.locked {
      guard state.isOn else { return }
      edit(&state.record)
      do {
        try store.save(PriorRun(state.record), durability: durability)
      } catch {
        state.isOn = false
        Complaint.say("why this program starts will not be known: \(Complaint.words(for: error))")
      }
    }
  }

  /// A gate that traces the program is no debugger.
  private func reading() -> LaunchRecord.Reading {
    var reading = folders.reading(cgroup: lock.locked { state.record.surroundings.cgroup })
    if Marks.isConnected { reading.tracer = 0 }
    return reading
  }
}

// MARK: - The run before

extension LaunchReason {
  private static func prior(in store: any PriorRunStore, policy: Policy) -> PriorFinding {
    guard policy != .off, !LaunchRoom.isTestHost, isClaimed.exchange(1) == 0 else { return .notAsked }
    do {
      return try store.load().map { .record($0.record) } ?? .none
    } catch RunStoreError.heldByAnotherProcess {
      return .held
    } catch {
      return .unreadable(Complaint.words(for: error))
    }
  }

  private static func evidence(
    of finding: PriorFinding,
    _ appVersion: String,
    _ folders: SystemFolders,
    crashDetector: (() -> Bool)?
  ) -> LaunchEvidence {
    var evidence = LaunchEvidence()
    evidence.present = folders.surroundings(appVersion: appVersion)
    guard case .record(let prior) = finding else { return evidence }
    let run = prior.surroundings
    evidence.priorIsAlive = run.bootID == evidence.present.bootID && folders.isAlive(run)
    evidence.crashWasDetected = crashDetector?() ?? false
    evidence.oomKills = LaunchRoom.oomKills(of: evidence.present.cgroup)
    if run.bootID == evidence.present.bootID, !evidence.priorIsAlive {
      evidence.loggedKill = folders.loggedKill(of: run)
    }
    return evidence
  }

  private func report() {
    guard startup != .notEvaluated, Marks.isConnected else { return }
    report(.starting)
    Marks.mark("launch.\(startup.word)")
    guard consecutiveLaunchFailures > 0 else { return }
    Marks.value("launch.failures", Double(consecutiveLaunchFailures), unit: "launches")
  }

  /// A gate that sees the program killed can then tell what it was doing.
  private func report(_ activity: Activity) {
    guard Marks.isConnected else { return }
    Marks.mark("activity.\(activity.word)")
  }
}

extension StartupReason {
  /// The reason as a mark has it, as in `out-of-memory.active.cgroup-counter`.
  var word: String {
    switch self {
    case .notEvaluated: "not-evaluated"
    case .firstLaunch: "first-launch"
    case .concurrentInstance: "concurrent-instance"
    case .crash: "crash"
    case .debug: "debug"
    case .osUpgrade: "os-upgrade"
    case .appUpgrade: "app-upgrade"
    case .requested: "requested"
    case .cleanExit: "clean-exit"
    case .restartOfMachine: "restart-of-machine"
    case .notMonitored: "not-monitored"
    case .hang: "hang"
    case .outOfMemory(let activity, let proof): "out-of-memory.\(activity.word).\(proof.rawValue)"
    case .killedUnknown(let activity): "killed-unknown.\(activity.word)"
    case .unknown: "unknown"
    }
  }
}

#endif
