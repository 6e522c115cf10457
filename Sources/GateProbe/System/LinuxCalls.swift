import CLinux
import GateCore
import Glibc
import LinuxSystem

/// Linux system calls: the only file that imports the C module; no C type leaves it.
enum LinuxCalls {
  /// The error numbers that the module distinguishes.
  enum Code {
    static let noSuchFile = ENOENT
    static let accessDenied = EACCES
    static let notExecutableFormat = ENOEXEC
    static let tooBig = E2BIG
    static let invalid = EINVAL
    static let inputOutput = EIO
    static let outOfMemory = ENOMEM
  }

  /// The runner's side of a forked supervisor.
  struct Supervisor: Sendable {
    let pid: Int32
    let control: Int32
    let report: Int32
    let events: Int32

    func close() {
      for descriptor in [control, report, events] { Glibc.close(descriptor) }
    }
  }

  /// 0 if the path names an executable file, else the error number.
  static func executability(of path: String) -> Int32 {
    hw_executable(path.systemText)
  }

  static var canFixAddresses: Bool {
    hw_can_fix_addresses() == 1
  }

  /// Whether the runner may trace its programs (ptrace(2)); tried once.
  static let canTrace = hw_may_trace() == 0
}

// MARK: - Starting

extension LinuxCalls {
  static func startSupervisor(_ plan: SupervisorPlan) throws(SystemFailure) -> Supervisor {
    let memory = CStrings()
    var started = hw_supervisor()
    let code = plan.cpuMask.withUnsafeBytes { cpus in
      plan.attached.withUnsafeBufferPointer { attached in
        var request = hw_plan(
          attached: attached.baseAddress,
          attached_count: Int32(attached.count),
          owns_attached: plan.ownsAttached ? 1 : 0,
          program: memory.text(plan.program),
          arguments: memory.list(plan.arguments),
          environment: memory.list(plan.environment),
          directory: memory.text(plan.directory),
          input: plan.input ?? -1,
          output: plan.output,
          fixed_addresses: plan.fixesAddresses ? 1 : 0,
          no_huge_pages: plan.preventsHugePages ? 1 : 0,
          cpus: plan.cpuMask.isEmpty ? nil : cpus.baseAddress,
          cpus_size: cpus.count,
          cpu_count: Int32(plan.cpuCount ?? 0),
          lock: plan.lock ?? -1,
          traced: plan.isTraced ? 1 : 0,
          ballast: plan.ballast,
          cgroup: hw_cgroup(
            folders: memory.list(plan.cgroupFolders),
            joined: memory.list(plan.cgroupFolders + plan.joinedFolders),
            settings: memory.list(plan.cgroupSettings),
            before_killing: memory.list(plan.beforeKilling)
          ),
          mappings: plan.mappings ?? -1,
          profile: plan.profile ?? -1,
          ring: plan.ring ?? -1,
          sampling_interval: plan.samplingInterval
        )
        return hw_supervisor_start(&request, &started)
      }
    }
    withExtendedLifetime(memory) {}
    guard code == 0 else { throw SystemFailure(.fork, code: code) }
    return Supervisor(pid: started.pid, control: started.control, report: started.report, events: started.events)
  }

  /// The CPUs that this thread may use, in ascending order.
  static func usableCPUs() -> [Int] {
    var mask = [UInt](repeating: 0, count: 8192 / UInt.bitWidth)
    let status = mask.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { hw_affinity($0, bytes.count) }
    }
    guard status == 0 else { return Array(0..<Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
    return (0..<8192).filter { mask[$0 / UInt.bitWidth] & (1 << UInt($0 % UInt.bitWidth)) != 0 }
  }
}

// MARK: - Communicating with a supervisor

extension LinuxCalls {
  /// Reads pending records, at most `limit`; nil at end of file, and if they cannot be read.
  ///
  /// The default, at 88 bytes each, fits on the stack: temporary allocations above 1 KiB use the heap.
  static func events(from report: Int32, atMost limit: Int = 11) -> [SupervisorEvent]? {
    withUnsafeTemporaryAllocation(of: hw_record.self, capacity: limit) { records in
      let size = records.count * MemoryLayout<hw_record>.stride
      let count = retried { read(report, records.baseAddress, size) }
      guard count > 0 else { return count < 0 && errno == EAGAIN ? [] : nil }
      return records.prefix(count / MemoryLayout<hw_record>.stride).compactMap(SupervisorEvent.init)
    }
  }

  /// Asks a supervisor to kill its descendants; continues it if it was stopped.
  static func requestKillAll(_ supervisor: Supervisor) { send(HW_REQUEST_KILL_ALL, to: supervisor) }

  /// Tells the supervisor of a profiled program that the steps begin.
  static func requestStepProfile(_ supervisor: Supervisor) { send(HW_REQUEST_PROFILE_STEPS, to: supervisor) }

  /// Makes a supervisor without descendants remove its cgroup and exit.
  static func release(_ supervisor: Supervisor) { send(HW_REQUEST_RELEASE, to: supervisor) }

  /// Kills a supervisor that takes no requests; the end of its pipe ends it if the signal is refused.
  static func end(_ supervisor: Supervisor) {
    closePipe(writer: supervisor.control, reader: supervisor.report)
    kill(supervisor.pid, SIGKILL)
    reap(supervisor.pid)
  }

  /// A request that cannot be written is replaced by the end of the pipe, since nothing else would end the supervisor.
  private static func send(_ request: hw_request, to supervisor: Supervisor) {
    var byte = UInt8(request.rawValue)
    // A few bytes never fill the pipe. If the supervisor has exited, the write fails with EPIPE.
    let written = SignalMask.withoutPipeSignal { write(supervisor.control, &byte, 1) }
    if written < 0 { closePipe(writer: supervisor.control, reader: supervisor.report) }
    kill(supervisor.pid, SIGCONT)
  }

  /// Closes the writing end of a pipe, so that its reader finds the end, but keeps the number in use: it leads to a
  /// reading end until its owner closes it.
  static func closePipe(writer: Int32, reader: Int32) { hw_lead_to(reader, writer) }

  /// Accepts a pending signal of a set, without waiting; -1 if none is pending.
  static func takePending(_ signals: UnsafePointer<sigset_t>) -> Int32 {
    var atOnce = timespec(tv_sec: 0, tv_nsec: 0)
    return sigtimedwait(signals, nil, &atOnce)
  }

  /// Waits for a child process that was told to exit; kills it if it takes too long.
  static func reap(_ pid: Int32) {
    _ = hw_reap(pid, nil)
  }

  /// A close-on-exec pipe; nil if no descriptor is left.
  static func pipe() -> (reading: Int32, writing: Int32)? {
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2) { ends in
      guard let base = ends.baseAddress, hw_pipe(base) == 0 else { return nil }
      return (ends[0], ends[1])
    }
  }

  /// An anonymous close-on-exec file in memory; nil if it cannot be created (memfd_create(2)).
  static func anonymousFile(named name: String) -> Descriptor? {
    let number = hw_anonymous_file(name)
    return number < 0 ? nil : Descriptor(owning: number)
  }

  /// Copies the available bytes from one pipe to another, and leaves them in both.
  static func copyPipe(_ reader: Descriptor, to writer: Descriptor, atMost count: Int) {
    hw_copy_pipe(reader.number, writer.number, count)
  }
}

extension SupervisorEvent {
  /// Returns nil for an unknown kind of record.
  init?(_ record: hw_record) {
    let time = MonotonicTime(nanoseconds: record.time)
    switch UInt32(bitPattern: record.event) {
    case HW_EVENT_STARTED.rawValue: self = .started(record.pid, at: time)
    case HW_EVENT_FAILED.rawValue: self = .failed(LaunchError.Stage(hw_stage(UInt32(record.stage))), code: record.value)
    case HW_EVENT_ENDED.rawValue:
      self = .ended(record.pid, WaitStatus(raw: record.value), highest: Bytes(record.highest), at: time)
    case HW_EVENT_SURVIVOR.rawValue: self = .survivor(record.pid)
    case HW_EVENT_DONE.rawValue: self = .done
    case HW_EVENT_GONE.rawValue: self = .gone(record.pid, at: time)
    default:
      guard let kind = TraceEvent.Kind(record) else { return nil }
      self = .traced(TraceEvent(pid: record.pid, kind: kind, highest: Bytes(record.highest), time: time))
    }
  }
}

extension TraceEvent.Kind {
  /// Returns nil for a record of another kind.
  fileprivate init?(_ record: hw_record) {
    switch UInt32(bitPattern: record.event) {
    case HW_EVENT_FORKED.rawValue:
      // The anonymous memory of the parent.
      self = .forked(parent: record.value, copied: record.stage == 0 ? Bytes(record.memory.2) : nil)
    case HW_EVENT_EXECUTED.rawValue:
      self = .executed(TraceEvent.Program(record), inherited: .kibibytes(Int64(record.value)))
    case HW_EVENT_EXITING.rawValue: self = .exiting(TraceEvent.Program(record), isLast: record.stage == 0)
    case HW_EVENT_MANY_THREADS.rawValue: self = .madeManyThreads(Int(record.value))
    case HW_EVENT_NOT_TRACED.rawValue: self = .notTraced(code: record.value)
    case HW_EVENT_NO_BALLAST.rawValue: self = .lacksBallast(TraceEvent.Program(record), code: record.value)
    default: return nil
    }
  }
}

extension TraceEvent.Program {
  fileprivate init(_ record: hw_record) {
    command = withUnsafeBytes(of: record.command) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let (peak, resident, anonymous, file, shared) = record.memory
    memory =
      peak == 0 && resident == 0
      ? nil
      : MemoryReading(
        resident: Bytes(resident), peak: Bytes(peak), anonymous: Bytes(anonymous), file: Bytes(file),
        shared: Bytes(shared)
      )
  }
}

extension LaunchError.Stage {
  fileprivate init(_ stage: hw_stage) {
    switch stage {
    case HW_STAGE_GROUP: self = .group
    case HW_STAGE_DIRECTORY: self = .directory
    case HW_STAGE_INPUT: self = .input
    case HW_STAGE_OUTPUT: self = .output
    case HW_STAGE_ADDRESSES: self = .addresses
    case HW_STAGE_HUGE_PAGES: self = .hugePages
    case HW_STAGE_CPUS: self = .cpus
    case HW_STAGE_CPU_COUNT: self = .cpuCount
    case HW_STAGE_EXEC: self = .execution
    case HW_STAGE_CGROUP: self = .cgroup
    case HW_STAGE_TRACE: self = .trace
    default: self = .supervisor
    }
  }
}

// MARK: - Kills

extension LinuxCalls {
  /// Watches all SIGKILLs of the machine; false if that is not permitted.
  static func openKills(_ format: KillFormat) -> Bool {
    hw_kills_open(hw_kill_format(tracepoint: format.tracepoint, target: format.target, code: format.code)) == 0
  }

  /// Waits for some of them; nil if that fails.
  static func awaitKills() -> [(target: Int32, sender: Int32, code: Int32, time: MonotonicTime)]? {
    withUnsafeTemporaryAllocation(of: hw_kill.self, capacity: 64) { found in
      guard let base = found.baseAddress else { return nil }
      let count = hw_kills_await(base, Int32(found.count))
      guard count >= 0 else { return nil }
      return found.prefix(Int(count)).map {
        ($0.target, $0.sender, $0.code, MonotonicTime(nanoseconds: $0.time))
      }
    }
  }
}

// MARK: - Limits

extension LinuxCalls {
  /// Whether this many more files can be opened; at most 64.
  static func canOpenFiles(_ count: Int) -> Bool {
    hw_try_descriptors(Int32(count)) == 1
  }

  /// Whether this many more processes or threads can be created; at most 64.
  static func canCreateProcesses(_ count: Int) -> Bool {
    hw_try_threads(Int32(count)) == 1
  }

  /// Whether this much more address space is available.
  static func canReserve(_ size: Bytes) -> Bool {
    hw_try_memory(Int(size.count)) == 1
  }

  /// Runs the body in a child process that has a copy of the descriptor `kept` and no other; returns its pid.
  ///
  /// See `hw_fork_cleaner`.
  static func runChild(keeping kept: Int32, _ body: () -> Void) throws(SystemFailure) -> Int32 {
    let pid = hw_fork_cleaner(kept)
    guard pid >= 0 else { throw SystemFailure(.fork, code: errno) }
    guard pid == 0 else { return pid }
    body()
    _exit(0)
  }
}

// MARK: - Threads

extension LinuxCalls {
  /// Sleeps until the instant, or until the descriptor is readable; returns whether it is.
  static func sleep(until instant: MonotonicTime, wakingOn descriptor: Int32) -> Bool {
    hw_sleep_until(instant.nanoseconds, descriptor) == 1
  }
}

// MARK: - Other processes

extension LinuxCalls {
  /// The descendants of a process, including zombies, each with its parent at the time of the walk.
  ///
  /// May miss some, or list one twice, if processes exit during the walk, see proc(5).
  static func descendants(of root: Int32, capacity: Int = 8192) -> [(pid: Int32, parent: Int32)] {
    withUnsafeTemporaryAllocation(of: hw_process.self, capacity: capacity) { found in
      guard let base = found.baseAddress else { return [] }
      let count = Int(hw_descendants(root, base, Int32(capacity)))
      return found.prefix(count).map { ($0.pid, $0.parent) }
    }
  }

  /// The buffer of a walk, allocated once, so that a repeated walk allocates nothing.
  struct WalkBuffer: ~Copyable {
    private let found: UnsafeMutableBufferPointer<hw_process>

    init(capacity: Int) {
      found = .allocate(capacity: capacity)
    }

    deinit {
      found.deallocate()
    }

    /// Stores the current descendants; returns their number.
    ///
    /// See ``descendants(of:capacity:)``.
    func fill(from root: Int32) -> Int {
      guard let base = found.baseAddress else { return 0 }
      return Int(hw_descendants(root, base, Int32(found.count)))
    }

    /// A descendant of the last walk, and its parent.
    subscript(at: Int) -> (pid: Int32, parent: Int32) {
      (found[at].pid, found[at].parent)
    }
  }

  /// The same by scanning all processes for their parents: slower; for kernels without `children` files.
  static func descendantsByScan(of root: Int32, capacity: Int = 32_768) -> [(pid: Int32, parent: Int32)] {
    withUnsafeTemporaryAllocation(of: hw_process.self, capacity: capacity) { found in
      guard let base = found.baseAddress else { return [] }
      let count = Int(hw_descendants_by_scan(root, base, Int32(capacity)))
      return found.prefix(count).map { ($0.pid, $0.parent) }
    }
  }

  /// The parent of a process; nil if there is no such process.
  static func parent(of pid: Int32) -> Int32? {
    let parent = hw_parent(pid)
    return parent < 0 ? nil : parent
  }

  /// Whether two processes share an address space, as after vfork(2); nil if unknown.
  static func sharesMemory(_ one: Int32, _ other: Int32) -> Bool? {
    let answer = hw_shares_memory(one, other)
    return answer < 0 ? nil : answer == 1
  }

  /// Sends a signal to the process that `isWanted` accepted, never to another one that reused its pid.
  ///
  /// Opens a pidfd before the check. On kernels before 5.3, and with filters that block pidfd_open(2), there is a race
  /// of microseconds between the check and the signal.
  static func send(_ signal: Int32, to pid: Int32, where isWanted: (Int32) -> Bool) -> Bool {
    guard pid > 0 else { return false }
    let pin = hw_pidfd_open(pid)
    guard pin >= 0 else {
      guard errno == ENOSYS || errno == EPERM, isWanted(pid) else { return false }
      return kill(pid, signal) == 0
    }
    defer { close(pin) }
    return isWanted(pid) && hw_pidfd_send_signal(pin, signal) == 0
  }
}

// MARK: - Cgroups and counters

extension LinuxCalls.Code {
  static let notPermitted = EPERM
  static let readOnly = EROFS
  static let busy = EBUSY
}

extension LinuxCalls {
  /// Has a child create a cgroup, let another process join it, and remove it, even if this process is killed meanwhile.
  ///
  /// - Returns: 0, or the error number; -1 if the cgroup lacks the file.
  static func tryCgroup(at path: String, needing file: String) -> Int32 {
    let code = hw_try_cgroup(path, "\(path)/\(file)")
    return code == HW_FILE_MISSING ? -1 : code
  }

  typealias Leaf = hw_leaf

  /// The name of the cgroup that ``occupyLeaf(of:)`` makes.
  static let leafName = HW_LEAF

  /// Moves the processes of a v2 cgroup to a leaf below it, and enables the memory controller for further ones.
  ///
  /// - Returns: The leaf, which is given up when this process ends, or by ``giveUp(_:)``.
  static func occupyLeaf(of folder: String) throws(SystemFailure) -> Leaf {
    var leaf = hw_leaf()
    let code = hw_occupy_leaf(folder, &leaf)
    guard code == 0 else { throw SystemFailure(.write, path: folder, code: code) }
    return leaf
  }

  static func giveUp(_ leaf: Leaf) { hw_give_up_leaf(leaf) }

  static func isMarkedAsDelegated(_ folder: String) -> Bool { hw_is_marked_as_delegated(folder) != 0 }

  /// Runs the body with an idle child process that has touched `size` bytes of new memory; nil if the fork fails.
  static func withIdleChild<Value>(holding size: Bytes, _ body: (_ pid: Int32) -> Value?) -> Value? {
    var release: Int32 = -1
    let pid = hw_still_child(Int(size.count), &release)
    guard pid > 0 else { return nil }
    defer {
      close(release)
      reap(pid)
    }
    return body(pid)
  }
}
