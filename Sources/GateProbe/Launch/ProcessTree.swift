import GateCore
import Synchronization

/// A program that was started, with everything that it starts in turn.
///
/// The program's parent is a *supervisor*, a process that inherits whatever is orphaned below it. It kills the
/// tree when it is asked to, and when the runner is gone for whatever reason, so that nothing outlives the runner.
/// Should the supervisor itself be killed, the program dies with it (`PR_SET_PDEATHSIG`), and the runner kills what
/// it finds of the rest: the processes of the supervisor's session, those that it has seen as members, and those that
/// carry the target's own FIFO for marks in their environment.
///
/// Every method may be called from any thread.
final class ProcessTree: Sendable {
  /// A living process of the tree.
  struct Member: Sendable, Equatable {
    let pid: Int32
    let parent: Int32
    /// The name of its program (`comm`), at most 15 bytes.
    let command: String
  }

  private struct Ending {
    let status: WaitStatus
    let time: MonotonicTime
  }

  private struct State {
    var endings: [Int32: Ending] = [:]
    var survivors: [Int32] = []
    var isDone = false
    var isOver = false
    /// By pid, the start tick of each process that was seen as a member.
    var seen: [Int32: UInt64] = [:]
    /// What was reported of traced processes since ``takeTraceEvents()``.
    var traceEvents: [TraceEvent] = []
    var hasReaped = false
  }

  /// The most endings that are kept, so that a program that leaves orphans for ever costs no memory for ever.
  private static let mostEndings = 16_384

  /// How long the supervisor may take to kill everything: its own 5 s, and some for a machine under load.
  private static let patience = Duration.seconds(8)

  /// The process of the program; its number may be another's once its ending was reported.
  let leader: Int32
  /// The program's parent.
  var supervisor: Int32 { handle.pid }
  /// The instant after the program was executed.
  let startedAt: MonotonicTime
  /// Becomes readable when there are events for ``collect()``, and stays so once the tree is empty.
  var reportDescriptor: Int32 { handle.report }

  /// The path of the FIFO for marks, which no other tree has in its environment; nil for other programs than targets.
  private let marksPath: String?
  let isTraced: Bool
  private let containment: Containment?
  private let handle: LinuxCalls.Supervisor
  private let state = Mutex(State())

  /// Starts the program, and returns when it was executed.
  ///
  /// - Throws: what could not be done; no process is left then.
  init(starting request: LaunchRequest) throws(LaunchError) {
    let path = try ProgramSearch.path(of: request)
    marksPath = request.scratch?.marksPath
    isTraced = request.isTraced
    containment = request.containment
    let plan = try request.plan(executing: path)
    let handle: LinuxCalls.Supervisor
    do throws(SystemFailure) {
      handle = try LinuxCalls.startSupervisor(plan)
    } catch {
      throw LaunchError(.supervisor, code: error.code, request: request)
    }
    switch Self.firstEvent(from: handle) {
    case .started(let pid, let time)?:
      self.handle = handle
      leader = pid
      startedAt = time
    case .failed(let stage, let code)?:
      Self.dismiss(handle)
      throw LaunchError(stage, code: code, request: request)
    default:
      Self.dismiss(handle)
      throw LaunchError(.supervisor, code: LinuxCalls.Code.inputOutput, request: request)
    }
  }

  deinit {
    killAll()
    release()
    handle.close()
  }

  /// The record of the start; nil where the supervisor ended without one.
  ///
  /// What follows it must not be lost, so the descriptor is read record by record.
  private static func firstEvent(from handle: LinuxCalls.Supervisor) -> SupervisorEvent? {
    while true {
      Polling.wait(toRead: [handle.report], atMost: .seconds(3600))
      guard let events = LinuxCalls.events(from: handle.report, atMost: 1) else { return nil }
      if let first = events.first { return first }
    }
  }

  private static func dismiss(_ handle: LinuxCalls.Supervisor) {
    handle.close()
    LinuxCalls.reap(handle.pid)
  }
}

// MARK: - What has ended

extension ProcessTree {
  /// Takes in the events that have come, without waiting.
  func collect() {
    let orphans = state.withLock { state -> [Int32: UInt64]? in
      drain(&state) ? state.seen : nil
    }
    guard let orphans else { return }
    containment?.kill()
    Orphans(session: supervisor, known: orphans, marksPath: marksPath).kill()
  }

  /// What was reported of traced processes since the last call, in the order of time.
  ///
  /// It leaves alone what ``reportDescriptor`` yields, since another thread may wait for that.
  func takeTraceEvents() -> [TraceEvent] {
    state.withLock { state in
      drainEvents(&state)
      guard !state.traceEvents.isEmpty else { return [] }
      var events: [TraceEvent] = []
      swap(&events, &state.traceEvents)
      return events
    }
  }

  /// How a process ended; nil while it lives, and for one that another process of the tree waited for.
  ///
  /// It is known of the leader, and of orphans (daemons), as of the last ``collect()``.
  func ending(of pid: Int32) -> WaitStatus? {
    state.withLock { $0.endings[pid]?.status }
  }

  /// When a process was found to have ended, where ``ending(of:)`` is known.
  func endTime(of pid: Int32) -> MonotonicTime? {
    state.withLock { $0.endings[pid]?.time }
  }

  /// Whether nothing is left of the tree, as of the last ``collect()``.
  var isEmpty: Bool {
    state.withLock { $0.isOver }
  }

  /// Whether the supervisor was killed, so that endings may be unknown.
  var hasLostSupervisor: Bool {
    state.withLock { $0.isOver && !$0.isDone }
  }

  /// Waits for events, at most for `limit`, and takes them in.
  func collect(waitingAtMost limit: Duration) {
    Polling.wait(toRead: [reportDescriptor], atMost: limit)
    collect()
  }

  /// Reads all that has come; whether the supervisor was found to be lost just now.
  private func drain(_ state: inout State) -> Bool {
    while !state.isOver {
      let events = LinuxCalls.events(from: handle.report)
      // What stands in the other pipe by now was written before, the last values before the end.
      drainEvents(&state)
      guard let events else {
        state.isOver = true
        state.hasReaped = true
        LinuxCalls.reap(handle.pid)
        return true
      }
      guard !events.isEmpty else { return false }
      for event in events { note(event, in: &state) }
    }
    return false
  }

  private func drainEvents(_ state: inout State) {
    guard isTraced else { return }
    while let events = LinuxCalls.events(from: handle.events), !events.isEmpty {
      for event in events { note(event, in: &state) }
    }
  }

  private func note(_ event: SupervisorEvent, in state: inout State) {
    switch event {
    case .ended(let pid, let status, let time):
      if state.endings.count >= Self.mostEndings {
        state.endings = state.endings.filter { $0.key == leader }
      }
      // The first ending of the leader's number is the leader's; a later one is that of another process with the same number.
      if pid != leader || state.endings[pid] == nil { state.endings[pid] = Ending(status: status, time: time) }
      state.seen[pid] = nil
      if isTraced { state.traceEvents.append(TraceEvent(pid: pid, kind: .ended(status), time: time)) }
    case .survivor(let pid): state.survivors.append(pid)
    case .done: (state.isDone, state.isOver) = (true, true)
    case .traced(let event): state.traceEvents.append(event)
    case .started, .failed: break
    }
  }
}

// MARK: - What lives

extension ProcessTree {
  /// The living processes of the tree, without the supervisor.
  ///
  /// One that is born or gets a new parent meanwhile may be missing.
  func members() -> [Member] {
    guard !isEmpty else { return [] }
    var pids: Set<Int32> = []
    let found = LinuxCalls.descendants(of: supervisor).filter { pids.insert($0.pid).inserted }
    let alive = found.compactMap { ProcessStat(of: $0.pid) }.filter(\.isAlive)
    state.withLock { state in
      for process in alive { state.seen[process.pid] = process.startTick }
    }
    return alive.map { Member(pid: $0.pid, parent: $0.parent, command: $0.command) }
  }

  /// Whether a living or dead, not yet reaped process is of the tree.
  func isMember(_ pid: Int32) -> Bool {
    guard pid > 1, pid != supervisor, !isEmpty else { return false }
    // A parent that ends between two steps leaves the walk outside; the orphan is the supervisor's child by then.
    return (0..<3).contains { _ in leadsToSupervisor(pid) }
  }

  private func leadsToSupervisor(_ pid: Int32) -> Bool {
    var ancestor = pid
    while let parent = LinuxCalls.parent(of: ancestor), parent > 1 {
      if parent == supervisor { return true }
      ancestor = parent
    }
    return false
  }

  /// Sends a signal to a process of the tree; false where it is none, or has gone.
  ///
  /// It cannot reach another process that was given the number of one that has ended.
  @discardableResult
  func send(_ signal: Signal, to pid: Int32) -> Bool {
    LinuxCalls.send(signal.number, to: pid, where: isMember)
  }

  /// Kills all that is left of the tree, and waits until it is gone.
  ///
  /// - Returns: The processes that could not be killed, for example since they belong to another user; normally none.
  @discardableResult
  func killAll() -> [Int32] {
    collect()
    let deadline = MonotonicTime.now() + Self.patience
    if !isEmpty { LinuxCalls.requestKillAll(handle) }
    while !isEmpty, MonotonicTime.now() < deadline {
      collect(waitingAtMost: deadline - MonotonicTime.now())
    }
    // A supervisor that does not answer: its death takes the program along, and makes the rest orphans to be killed.
    if !isEmpty {
      LinuxCalls.killChild(supervisor)
      while !isEmpty { collect(waitingAtMost: .milliseconds(100)) }
    }
    return state.withLock { $0.survivors }
  }

  /// Has the supervisor of a empty tree remove its cgroup and end; to be called once the counters were read.
  func release() {
    let mustReap = state.withLock { state in
      guard state.isOver, !state.hasReaped else { return false }
      state.hasReaped = true
      return true
    }
    if mustReap {
      LinuxCalls.release(handle)
      LinuxCalls.reap(supervisor)
    }
    if isEmpty { containment?.remove() }
  }
}
