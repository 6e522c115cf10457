#if LaunchReason

import LaunchRecords

/// What was found of the run before.
enum PriorFinding: Sendable, Equatable {
  /// The library is switched off, is started a second time in this process, or runs in a host of unit tests.
  case notAsked
  case none
  case unreadable(String)
  /// Another process holds the record.
  case held
  case record(LaunchRecord)
}

/// What can be seen now that tells of how the run before ended.
struct LaunchEvidence: Sendable, Equatable {
  var present = LaunchRecord.Surroundings()
  /// Whether the process of the record still lives.
  var priorIsAlive = false
  /// What the program's own crash detector says.
  var crashWasDetected = false
  /// `oom_kill` of this run's cgroup.
  var oomKills: UInt64?
  /// Whose want of memory the kernel's log says that the record's process was killed for.
  var loggedKill: OOMKind?
}

/// Why this run started, and how the one before ended.
struct LaunchDecision: Sendable, Equatable {
  let startup: StartupReason
  let previous: RunEnd?
  let consecutiveLaunchFailures: Int

  init(_ finding: PriorFinding, _ evidence: LaunchEvidence, _ policy: Policy) {
    guard case .record(let prior) = finding else {
      (startup, previous, consecutiveLaunchFailures) = (Self.reason(without: finding), nil, 0)
      return
    }
    let judgement = Judgement(prior: prior, evidence: evidence, policy: policy)
    startup = judgement.startup
    previous = startup == .concurrentInstance ? nil : judgement.end
    let failed = prior.activity == .starting && startup.isFailure(previous)
    consecutiveLaunchFailures = failed ? Int(prior.launchFailures) + 1 : 0
  }

  private static func reason(without finding: PriorFinding) -> StartupReason {
    switch finding {
    case .notAsked, .record: .notEvaluated
    case .none: .firstLaunch
    case .unreadable(let why): .unknown(why)
    case .held: .concurrentInstance
    }
  }
}

extension StartupReason {
  /// Whether the run before, had it been starting, has failed to.
  fileprivate func isFailure(_ end: RunEnd?) -> Bool {
    switch self {
    case .crash, .hang, .outOfMemory, .killedUnknown, .unknown: true
    case .cleanExit: if case .exited(let code) = end { code != 0 } else { false }
    default: false
    }
  }
}

/// The run before, held against the present.
private struct Judgement {
  let prior: LaunchRecord
  let evidence: LaunchEvidence
  let policy: Policy

  /// The first row that fits; the order is that of Uber's Startup Reason Reporter, with proofs where Linux has them.
  var startup: StartupReason {
    let before = prior.surroundings
    let now = evidence.present
    if evidence.priorIsAlive && !hasReplacedItself { return .concurrentInstance }
    if prior.crash != nil || evidence.crashWasDetected { return .crash }
    if prior.last.tracer != 0 { return .debug }
    if before.kernelRelease != now.kernelRelease || before.osRelease != now.osRelease { return .osUpgrade }
    if before.appVersion != now.appVersion || before.buildID != now.buildID { return .appUpgrade }
    if prior.request != nil { return .requested }
    if prior.exit != nil || hasReplacedItself { return .cleanExit }
    if before.bootID != now.bootID { return .restartOfMachine }
    if prior.isStopped { return .notMonitored }
    if prior.hangBegan != nil { return .hang }
    if let (_, proof) = outOfMemory { return .outOfMemory(Activity(prior.activity), proof) }
    return .killedUnknown(Activity(prior.activity))
  }

  /// Decided by itself: an upgrade, say, does not hide how the run before it ended.
  var end: RunEnd {
    if let signal = prior.crash { return Self.crash(signal) }
    if let (kind, proof) = provenOutOfMemory { return .outOfMemory(kind, proof) }
    if evidence.crashWasDetected { return .unknown("a crash, as the program's own detector says") }
    if let request = prior.request { return .requested(signal: request.signal, sender: Sender(request.sender)) }
    if let exit = prior.exit { return .exited(code: exit.code ?? 0) }
    if hasReplacedItself { return .unknown("it replaced itself by another program") }
    if prior.surroundings.bootID != evidence.present.bootID { return .unknown("the machine was started anew") }
    if prior.isStopped { return .unknown("the library had been stopped") }
    if let hangBegan = prior.hangBegan {
      return .hung(seconds: Double(prior.last.bootTime - min(hangBegan, prior.last.bootTime)) / 1e9)
    }
    if prior.last.tracer != 0 { return .unknown("it was under a debugger") }
    if let (kind, proof) = outOfMemory { return .outOfMemory(kind, proof) }
    return .killed(by: .unknown)
  }

  /// execve(2) keeps the pid and the start.
  private var hasReplacedItself: Bool {
    let now = evidence.present
    let before = prior.surroundings
    return before.bootID == now.bootID && before.pid == now.pid && before.startTime == now.startTime
  }

  // MARK: Out of memory

  private var outOfMemory: (OOMKind, Proof)? {
    if let proven = provenOutOfMemory { return proven }
    guard policy == .elimination || isNearLimit || isUnderPressure else { return nil }
    return (isNearLimit ? .ownLimit : .systemPressure, .inferred)
  }

  /// The log first: it names the process, where the counter counts any of the cgroup.
  private var provenOutOfMemory: (OOMKind, Proof)? {
    guard prior.surroundings.bootID == evidence.present.bootID else { return nil }
    if let kind = evidence.loggedKill { return (kind, .kernelLogPid) }
    let isSameGroup =
      prior.surroundings.cgroupInode != 0 && prior.surroundings.cgroupInode == evidence.present.cgroupInode
    guard isSameGroup, let before = prior.last.oomKills, let now = evidence.oomKills, now > before else { return nil }
    return (prior.last.limit == nil ? .systemPressure : .ownLimit, .cgroupCounter)
  }

  /// At 90 % of the limit when last seen: a choice, without a measurement behind it.
  private var isNearLimit: Bool {
    prior.last.limit.map { Double(prior.last.resident) >= 0.9 * Double($0) } ?? false
  }

  /// All tasks waited for memory in a tenth of the last ten seconds: a choice, without a measurement behind it.
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
