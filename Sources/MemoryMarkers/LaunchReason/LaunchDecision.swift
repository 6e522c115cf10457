#if LaunchReason

import LaunchRecords

/// The result of loading the record of the previous run.
enum PriorRecord: Sendable, Equatable {
  /// The library is disabled, was already started in this process, or runs in a unit test host.
  case notLoaded
  case missing
  case unreadable(String)
  /// Another process has locked the record.
  case locked
  case found(LaunchRecord)
}

/// What can be observed now about how the previous run ended.
struct LaunchEvidence: Sendable, Equatable {
  var current = LaunchRecord.Run()
  /// Whether the process of the record is still alive.
  var priorIsAlive = false
  /// The result of the program's own crash detector.
  var crashWasDetected = false
  /// `oom_kill` of this run's cgroup.
  var oomKills: UInt64?
  /// The kind of OOM kill that the kernel's log reports for the process of the record.
  var loggedKill: OOMKind?
}

/// Why this run started, and how the previous one ended.
struct LaunchDecision: Sendable, Equatable {
  let startup: StartupReason
  let previous: RunEnd?
  let consecutiveLaunchFailures: Int

  init(_ prior: PriorRecord, _ evidence: LaunchEvidence, _ policy: Policy) {
    guard case .found(let record) = prior else {
      (startup, previous, consecutiveLaunchFailures) = (Self.reason(without: prior), nil, 0)
      return
    }
    let analysis = PriorRunAnalysis(prior: record, evidence: evidence, policy: policy)
    startup = analysis.startup
    previous = startup == .concurrentInstance ? nil : analysis.end
    let hasFailed = record.activity == .starting && startup.isFailure(previous)
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

/// Compares the record of the previous run with the evidence.
private struct PriorRunAnalysis {
  let prior: LaunchRecord
  let evidence: LaunchEvidence
  let policy: Policy

  /// The first reason that applies, in the order of Uber's Startup Reason Reporter, with the proofs that Linux has.
  var startup: StartupReason {
    let before = prior.run
    let now = evidence.current
    if evidence.priorIsAlive && !wasReplaced { return .concurrentInstance }
    if prior.crash != nil || evidence.crashWasDetected { return .crash }
    if prior.last.tracer != 0 { return .debug }
    if before.kernelRelease != now.kernelRelease || before.osRelease != now.osRelease { return .osUpgrade }
    if before.appVersion != now.appVersion || before.buildID != now.buildID { return .appUpgrade }
    if prior.request != nil { return .requested }
    if prior.exit != nil || wasReplaced { return .cleanExit }
    if before.bootID != now.bootID { return .restartOfMachine }
    if prior.isStopped { return .notMonitored }
    if prior.hangBegan != nil { return .hang }
    if let (_, proof) = outOfMemory { return .outOfMemory(Activity(prior.activity), proof) }
    return .killedUnknown(Activity(prior.activity))
  }

  /// Independent of the startup reason: an upgrade, for example, does not hide how the previous run ended.
  var end: RunEnd {
    if let signal = prior.crash { return Self.crash(signal) }
    if let (kind, proof) = provenOutOfMemory { return .outOfMemory(kind, proof) }
    if evidence.crashWasDetected { return .unknown("a crash, reported by the program's crash detector") }
    if let request = prior.request { return .requested(signal: request.signal, sender: Sender(request.sender)) }
    if let exit = prior.exit { return .exited(code: exit.code ?? 0) }
    if wasReplaced { return .unknown("it replaced itself with exec") }
    if prior.run.bootID != evidence.current.bootID { return .unknown("the machine was restarted") }
    if prior.isStopped { return .unknown("launch recording was stopped") }
    if let hangBegan = prior.hangBegan {
      return .hung(seconds: Double(prior.last.bootTime - min(hangBegan, prior.last.bootTime)) / 1e9)
    }
    if prior.last.tracer != 0 { return .unknown("a debugger was attached") }
    if let (kind, proof) = outOfMemory { return .outOfMemory(kind, proof) }
    return .killed(by: .unknown)
  }

  /// Whether the previous run became this one by execve(2), which keeps the pid and the start time.
  private var wasReplaced: Bool {
    let now = evidence.current
    let before = prior.run
    return before.bootID == now.bootID && before.pid == now.pid && before.startTime == now.startTime
  }

  // MARK: Out of memory

  private var outOfMemory: (OOMKind, Proof)? {
    if let proven = provenOutOfMemory { return proven }
    guard policy == .elimination || isNearLimit || isUnderPressure else { return nil }
    return (isNearLimit ? .ownLimit : .systemPressure, .inferred)
  }

  /// The log comes first: it names the process, while the counter counts every process of the cgroup.
  private var provenOutOfMemory: (OOMKind, Proof)? {
    guard prior.run.bootID == evidence.current.bootID else { return nil }
    if let kind = evidence.loggedKill { return (kind, .kernelLogPid) }
    let isSameCgroup =
      prior.run.cgroupInode != 0 && prior.run.cgroupInode == evidence.current.cgroupInode
    guard isSameCgroup, let before = prior.last.oomKills, let now = evidence.oomKills, now > before else { return nil }
    return (prior.last.limit == nil ? .systemPressure : .ownLimit, .cgroupCounter)
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

extension Sender {
  init(_ sender: LaunchRecord.Sender) {
    switch sender {
    case .process(let pid): self = .process(pid)
    case .kernel: self = .kernel
    case .unknown: self = .unknown
    }
  }
}

#endif
