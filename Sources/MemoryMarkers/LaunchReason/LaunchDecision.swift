#if LaunchReason && os(Linux)

import LaunchRecords

/// The result of loading the record of the previous run.
enum PriorRecord: Sendable, Equatable {
  /// This run is neither evaluated nor recorded.
  case notLoaded(LaunchReason.NotRecording)
  case missing
  case unreadable(String)
  /// The run that was started last is alive; the store has another record for this one.
  case locked
  case found(LaunchRecord)
}

/// What can be observed now about how the previous run ended.
struct LaunchEvidence: Sendable, Equatable {
  var current = LaunchRecord.Run()
  /// Whether the process of the record is still alive.
  var priorIsAlive = false
  /// Whether the daemon that the process became is alive.
  var daemonIsAlive = false
  /// The result of the program's own crash detector.
  var crashWasDetected = false
  /// `oom_kill` of this run's cgroup.
  var oomKills: UInt64?
  /// What the kernel's log says about the process of the record.
  var logged = KernelLog.Kill.unknown
}

/// Why this run started, and how the previous one ended.
struct LaunchDecision: Sendable, Equatable {
  let startup: StartupReason
  let previous: RunEnd?
  let consecutiveLaunchFailures: Int

  init(_ prior: PriorRecord, _ evidence: LaunchEvidence, _ policy: LaunchReason.Policy) {
    guard case .found(let record) = prior else {
      (startup, previous, consecutiveLaunchFailures) = (Self.reason(without: prior), nil, 0)
      return
    }
    let analysis = PriorRunAnalysis(prior: record, evidence: evidence, policy: policy)
    startup = analysis.startup
    previous = startup == .concurrentInstance ? nil : analysis.end
    let hasFailed = record.lastActivity == .starting && startup.isFailure(previous)
    consecutiveLaunchFailures = hasFailed ? Int(record.launchFailures) + 1 : 0
  }

  private static func reason(without prior: PriorRecord) -> StartupReason {
    switch prior {
    case .notLoaded, .found: .notEvaluated
    case .missing: .firstLaunch
    case .unreadable(let reason): .unknown(reason)
    case .locked: .concurrentInstance
    }
  }
}

extension StartupReason {
  /// Whether the previous run failed to launch, provided that it was still starting.
  fileprivate func isFailure(_ end: RunEnd?) -> Bool {
    switch self {
    case .crash, .hang, .outOfMemory, .killedUnknown, .unknown: true
    case .cleanExit: if case .exited(let code) = end { code != 0 } else { false }
    default: false
    }
  }
}

extension LaunchRecord {
  /// How long a run may be starting, in nanoseconds, unless it reports its activity; a choice, not measured.
  private static let longestLaunch: UInt64 = 60_000_000_000

  /// The activity at the last heartbeat: many programs never report one.
  fileprivate var lastActivity: LaunchReason.Activity {
    // Ticks of 10 ms in each process's view (USER_HZ, include/asm-generic/param.h).
    let start = run.startTime &* 10_000_000
    return activity == .starting && last.bootTime > start &+ Self.longestLaunch ? .active : .init(activity)
  }
}

/// Compares the record of the previous run with the evidence.
private struct PriorRunAnalysis {
  let prior: LaunchRecord
  let evidence: LaunchEvidence
  let policy: LaunchReason.Policy

  /// The first reason that applies, in the order of Uber's Startup Reason Reporter, with the proofs that Linux has.
  var startup: StartupReason {
    let before = prior.run
    let now = evidence.current
    if (evidence.priorIsAlive && !wasReplaced) || isDaemon { return .concurrentInstance }
    if prior.crash != nil || evidence.crashWasDetected { return .crash }
    if prior.last.tracer != 0 { return .debug }
    if before.kernelRelease != now.kernelRelease || before.osRelease != now.osRelease { return .osUpgrade }
    if before.appVersion != now.appVersion || before.buildID != now.buildID { return .appUpgrade }
    if countedRequest != nil { return .requested }
    if prior.exit != nil || wasReplaced { return .cleanExit }
    if before.bootID != now.bootID { return .restartOfMachine }
    if prior.isStopped { return .notMonitored }
    if prior.hangBegan != nil { return .hang }
    if let (_, proof) = loggedOutOfMemory { return .outOfMemory(prior.lastActivity, proof) }
    if prior.forkedChild != nil { return .unknown(Self.forked) }
    if let (_, proof) = inferredOutOfMemory { return .outOfMemory(prior.lastActivity, proof) }
    return .killedUnknown(prior.lastActivity)
  }

  /// Independent of the startup reason: an upgrade, for example, does not hide how the previous run ended.
  var end: RunEnd {
    if let (kind, proof) = loggedOutOfMemory { return .outOfMemory(kind, proof) }
    if let signal = prior.crash { return Self.crash(signal) }
    if evidence.crashWasDetected { return .unknown("a crash, reported by the program's crash detector") }
    if let request = countedRequest {
      return .requested(signal: request.signal, sender: LaunchReason.Sender(request.sender))
    }
    if let exit = prior.exit { return .exited(code: exit.code ?? 0) }
    if wasReplaced { return .unknown("it replaced itself with exec") }
    if prior.run.bootID != evidence.current.bootID { return .unknown("the machine was restarted") }
    if prior.isStopped { return .unknown("launch recording was stopped") }
    if let hangBegan = prior.hangBegan {
      return .hung(seconds: Double(prior.last.bootTime - min(hangBegan, prior.last.bootTime)) / 1e9)
    }
    if prior.last.tracer != 0 { return .unknown("a debugger was attached") }
    if prior.forkedChild != nil { return .unknown(Self.forked) }
    if let (kind, proof) = inferredOutOfMemory { return .outOfMemory(kind, proof) }
    return .killed(by: .unknown)
  }

  private static let forked = "it forked, and ended without a mark: a daemon creates LaunchReason after daemon(3)"

  /// The request to terminate that ended the run.
  ///
  /// Its default action did, or the program's own handler, after which the program exited or said that it was stopping;
  /// otherwise it may have survived the signal.
  private var countedRequest: LaunchRecord.Request? {
    prior.request.flatMap { !$0.hasReturned || prior.exit != nil || prior.activity == .stopping ? $0 : nil }
  }

  /// Whether the previous run lives on as a daemon.
  private var isDaemon: Bool {
    evidence.daemonIsAlive && prior.run.bootID == evidence.current.bootID && prior.exit == nil && prior.crash == nil
  }

  /// Whether the previous run became this one by execve(2), which keeps the pid and the start time.
  private var wasReplaced: Bool {
    let now = evidence.current
    let before = prior.run
    return before.bootID == now.bootID && before.pid == now.pid && before.startTime == now.startTime
  }

  // MARK: Out of memory

  /// The kernel's log is the only proof: it names the process.
  private var loggedOutOfMemory: (LaunchReason.OOMKind, LaunchReason.Proof)? {
    guard prior.run.bootID == evidence.current.bootID, case .named(let kind) = evidence.logged else { return nil }
    return (kind, .kernelLogPid)
  }

  /// Signs of an OOM kill, none of which is a proof; a log without the process refutes those of the kernel's OOM killer.
  private var inferredOutOfMemory: (LaunchReason.OOMKind, LaunchReason.Proof)? {
    if policy == .elimination { return (isNearLimit ? .ownLimit : .systemPressure, .inferred) }
    guard prior.request == nil else { return nil }
    if evidence.logged != .none {
      if isNearLimit { return (.ownLimit, .inferred) }
      if hasCounted { return (prior.last.limit == nil ? .systemPressure : .ownLimit, .inferred) }
    }
    return isUnderPressure ? (.systemPressure, .inferred) : nil
  }

  /// Whether the OOM killer has killed a process of the cgroup since the last heartbeat: this one, or another.
  private var hasCounted: Bool {
    let isSameCgroup = prior.run.cgroupInode != 0 && prior.run.cgroupInode == evidence.current.cgroupInode
    guard isSameCgroup, let before = prior.last.oomKills, let now = evidence.oomKills else { return false }
    return now > before
  }

  /// At 90 % of the limit at the last heartbeat; a choice, not measured.
  private var isNearLimit: Bool {
    prior.last.limit.map { Double(prior.last.resident) >= 0.9 * Double($0) } ?? false
  }

  /// All tasks waited for memory in a tenth of the last ten seconds; a choice, not measured.
  private var isUnderPressure: Bool {
    prior.last.pressure >= 10
  }

  private static func crash(_ signal: Int32) -> RunEnd {
    switch signal {
    case 4, 5: .swiftTrap(signal: signal, message: nil)  // SIGILL, SIGTRAP (signal(7))
    case 6: .aborted
    default: .crashed(signal: signal, coreDumped: false)
    }
  }
}

extension LaunchReason.Sender {
  init(_ sender: LaunchRecord.Sender) {
    switch sender {
    case .process(let pid): self = .process(pid)
    case .kernel: self = .kernel
    case .unknown: self = .unknown
    }
  }
}

#endif
