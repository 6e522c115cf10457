import GateCore
import LinuxSystem
import Synchronization

/// A started program and all its descendants.
///
/// The program's parent is a *supervisor*, a child subreaper that adopts all orphans below it. It kills the tree on
/// request, and when the runner exits for any reason, so that no process outlives the runner. If the supervisor itself
/// is killed, the program dies with it (`PR_SET_PDEATHSIG`), and the runner kills the other processes that it can find:
/// those in the supervisor's session, known members, and processes with the target's FIFO for marks in their
/// environment.
///
/// All methods are thread-safe.
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
    /// The start ticks of known members, by pid.
    var seen: [Int32: UInt64] = [:]
    /// Events of traced processes since the last ``takeTraceEvents()``.
    var traceEvents: [TraceEvent] = []
    var hasReaped = false
    /// When a leader that is neither started nor traced by this tree was seen to have ended.
    var goneAt: MonotonicTime?
  }

  /// Bounds the memory for endings, for programs that create orphans forever.
  private static let maxEndings = 16_384

  /// How long the supervisor may take to kill the tree: its own 5 s, plus a margin for a machine under load.
  private static let killTimeout = Duration.seconds(8)

  /// The pid of the program; the kernel may reuse it once its ending was reported.
  let leader: Int32
  /// The program's parent.
  var supervisor: Int32 { handle.pid }
  /// The time right after the exec of the program.
  let startedAt: MonotonicTime
  /// Readable when there are events for ``collect()``, and always once the tree is empty.
  var reportDescriptor: Int32 { handle.report }

  /// The path of the FIFO for marks, unique to this tree; nil for programs other than targets.
  private let marksPath: String?
  /// The processes of a target that is attached to: unless they are its own, they are never killed, only let go of.
  let attached: AttachedProcesses?
  let isTraced: Bool
  private let containment: Containment?
  private let handle: LinuxCalls.Supervisor
  private let state = Mutex(State())

  /// Starts the program, and returns after its exec.
  ///
  /// - Throws: The stage and cause of a failed start, which leaves no process behind.
  init(starting request: LaunchRequest) throws(LaunchError) {
    let path = try ProgramSearch.path(of: request)
    marksPath = request.marksPath
    attached = nil
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
      Self.discard(handle)
      throw LaunchError(stage, code: code, request: request)
    default:
      // The OOM killer of a small cgroup kills the supervisor, too, with which the program shares memory up to its exec.
      Self.discard(handle)
      containment?.kill()
      containment?.remove()
      throw LaunchError(.supervisor, code: LinuxCalls.Code.inputOutput, request: request)
    }
  }

  /// Follows processes that run already; at its end the tree kills its own, and lets go of others.
  ///
  /// - Throws: `errno` of the call that failed, with the processes as they were.
  init(attaching request: AttachRequest) throws(ErrorNumber) {
    (marksPath, containment) = (nil, nil)
    (attached, isTraced) = (request.processes, request.isTraced)
    let handle: LinuxCalls.Supervisor
    do throws(SystemFailure) {
      handle = try LinuxCalls.startSupervisor(request.plan)
    } catch {
      throw ErrorNumber(error.code)
    }
    switch Self.firstEvent(from: handle) {
    case .started(let pid, let time)?: (self.handle, leader, startedAt) = (handle, pid, time)
    case .failed(_, let code)?:
      Self.discard(handle)
      throw ErrorNumber(code)
    default:
      Self.discard(handle)
      throw ErrorNumber(LinuxCalls.Code.inputOutput)
    }
  }

  deinit {
    killAll()
    release()
    handle.close()
  }

  /// The record of the start; nil if the supervisor exited without one.
  ///
  /// Reads one record at a time, so that the following ones are not lost.
  private static func firstEvent(from handle: LinuxCalls.Supervisor) -> SupervisorEvent? {
    while true {
      Polling.wait(toRead: [handle.report], atMost: .seconds(3600))
      guard let events = LinuxCalls.events(from: handle.report, atMost: 1) else { return nil }
      if let first = events.first { return first }
    }
  }

  private static func discard(_ handle: LinuxCalls.Supervisor) {
    handle.close()
    LinuxCalls.reap(handle.pid)
  }
}

// MARK: - Events

extension ProcessTree {
  /// Processes the pending events, without waiting.
  func collect() {
    if state.withLock({ drain(&$0) }) { killOrphans() }
  }

  /// Kills what a supervisor has left that did not kill its tree.
  private func killOrphans() {
    guard attached == nil else { return }
    containment?.kill()
    Orphans(session: supervisor, known: state.withLock(\.seen), marksPath: marksPath).kill()
  }

  /// The events of traced processes since the last call, in order of time.
  ///
  /// Does not read ``reportDescriptor``, since another thread may wait for it.
  func takeTraceEvents() -> [TraceEvent] {
    state.withLock { state in
      drainEvents(&state)
      guard !state.traceEvents.isEmpty else { return [] }
      var events: [TraceEvent] = []
      swap(&events, &state.traceEvents)
      return events
    }
  }

  /// How a process ended, as of the last ``collect()``; nil while it is alive.
  ///
  /// Known for the leader and for orphans (daemons); nil for a process that another one of the tree has reaped.
  func ending(of pid: Int32) -> WaitStatus? {
    state.withLock { $0.endings[pid]?.status }
  }

  /// How the program ended; nil while it is alive.
  ///
  /// If the supervisor was killed, the program was as well, by `PR_SET_PDEATHSIG`, and nobody reports it.
  var leaderEnding: WaitStatus? {
    ending(of: leader)
      ?? (hasLostSupervisor && attached == nil ? .signaled(Signal.kill.number, coreDumped: false) : nil)
  }

  /// When the end of a process was seen; nil if ``ending(of:)`` is nil.
  func endTime(of pid: Int32) -> MonotonicTime? {
    state.withLock { $0.endings[pid]?.time }
  }

  /// When the leader was seen to have ended whose status nobody reports; nil while it is alive.
  var goneAt: MonotonicTime? { state.withLock(\.goneAt) }

  /// Whether no process of the tree is left, as of the last ``collect()``.
  var isEmpty: Bool {
    state.withLock { $0.isOver }
  }

  /// Whether the supervisor was killed, so that endings may be unknown.
  var hasLostSupervisor: Bool {
    state.withLock { $0.isOver && !$0.isDone }
  }

  /// Waits for events for at most `limit`, and processes them.
  func collect(waitingAtMost limit: Duration) {
    Polling.wait(toRead: [reportDescriptor], atMost: limit)
    collect()
  }

  /// Reads all pending events; returns whether this call found that the supervisor has died.
  private func drain(_ state: inout State) -> Bool {
    while !state.isOver {
      let events = LinuxCalls.events(from: handle.report)
      // Records in the other pipe are older than these: the last values of a process precede its end.
      drainEvents(&state)
      guard let events else {
        lose(&state)
        return true
      }
      guard !events.isEmpty else { return false }
      for event in events { note(event, in: &state) }
    }
    return false
  }

  /// Ends a supervisor whose records cannot be read; mostly it is dead already.
  private func lose(_ state: inout State) {
    state.isOver = true
    state.hasReaped = true
    LinuxCalls.end(handle)
  }

  private func drainEvents(_ state: inout State) {
    guard isTraced else { return }
    while let events = LinuxCalls.events(from: handle.events), !events.isEmpty {
      for event in events { note(event, in: &state) }
    }
  }

  private func note(_ event: SupervisorEvent, in state: inout State) {
    switch event {
    case .ended(let pid, let status, let highest, let time):
      if state.endings.count >= Self.maxEndings {
        state.endings = state.endings.filter { $0.key == leader }
      }
      // Keep the first ending with the leader's pid: a later one is of another process that reused the pid.
      if pid != leader || state.endings[pid] == nil { state.endings[pid] = Ending(status: status, time: time) }
      state.seen[pid] = nil
      guard isTraced else { return }
      state.traceEvents.append(TraceEvent(pid: pid, kind: .ended(status), highest: highest, time: time))
    case .gone(_, let time): state.goneAt = time
    case .survivor(let pid): state.survivors.append(pid)
    case .done: (state.isDone, state.isOver) = (true, true)
    case .traced(let event): state.traceEvents.append(event)
    case .started, .failed: break
    }
  }
}

// MARK: - Living processes

extension ProcessTree {
  /// The living processes of the tree, without the supervisor.
  ///
  /// A process that is forked or reparented during the walk may be missing.
  func members() -> [Member] {
    guard !isEmpty else { return [] }
    var pids: Set<Int32> = []
    let listed = attached?.all() ?? LinuxCalls.descendants(of: supervisor)
    let found = listed.filter { pids.insert($0.pid).inserted }
    let alive = found.compactMap { ProcessStat(of: $0.pid) }.filter(\.isAlive)
    state.withLock { state in
      for process in alive { state.seen[process.pid] = process.startTick }
    }
    return alive.map { Member(pid: $0.pid, parent: $0.parent, command: $0.command) }
  }

  /// The process with the lowest ID of those whose parent has ended; nil if there is none.
  var oldestOrphan: Int32? {
    members().filter { $0.parent == supervisor && $0.pid != leader }.map(\.pid).min()
  }

  /// Whether a process belongs to the tree; zombies count.
  func isMember(_ pid: Int32) -> Bool {
    guard pid > 1, pid != supervisor, !isEmpty else { return false }
    if let attached { return goneAt == nil && ending(of: pid) == nil && attached.contains(pid) }
    // A parent that exits during the walk breaks it; a retry finds the orphan as a child of the supervisor.
    return (0..<3).contains { _ in descendsFromSupervisor(pid) }
  }

  private func descendsFromSupervisor(_ pid: Int32) -> Bool {
    var ancestor = pid
    while let parent = LinuxCalls.parent(of: ancestor), parent > 1 {
      if parent == supervisor { return true }
      ancestor = parent
    }
    return false
  }

  /// Sends a signal to a process of the tree; false if it is not a member or has been reaped.
  ///
  /// Never signals another process that reused the pid.
  @discardableResult
  func send(_ signal: Signal, to pid: Int32) -> Bool {
    LinuxCalls.send(signal.number, to: pid, where: isMember)
  }

  /// Kills all processes of the tree, and waits until they are gone; lets go of those that ran already.
  ///
  /// - Returns: The processes that could not be killed, for example those of another user; normally none.
  @discardableResult
  func killAll() -> [Int32] {
    collect()
    if !isEmpty { LinuxCalls.requestKillAll(handle) }
    let deadline = MonotonicTime.after(Self.killTimeout)
    while !isEmpty, !deadline.hasPassed { collect(waitingAtMost: deadline.remaining) }
    // The supervisor does not respond: killing it also kills the program.
    if !isEmpty {
      state.withLock { lose(&$0) }
      killOrphans()
    }
    return state.withLock { $0.survivors }
  }

  /// Tells the profiler that the steps or the iterations begin: what grows from then on is not start-up.
  func profileSteps() { LinuxCalls.requestStepProfile(handle) }

  /// Makes the supervisor of an empty tree remove its cgroup and exit; call it after reading the counters.
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
