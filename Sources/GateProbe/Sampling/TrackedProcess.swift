import GateCore
import Glibc

/// The sampler's record of a process of the tree.
final class TrackedProcess {
  let pid: Int32
  private(set) var parent: Int32
  private(set) var command: String
  let firstSeen: Int64
  private(set) var lastSeen: Int64
  /// The highest value seen, over all programs that the process executed.
  private(set) var peak: Int64 = 0
  /// Whether it shares another process's memory, as between vfork(2) and exec; it is not counted then.
  private(set) var borrowsMemory = false
  /// The process that counts the memory that it shares.
  private(set) var lender: Int32 = 0
  /// Whether the last reading found memory.
  private(set) var isAlive = true
  /// The last resident memory that was read, in bytes.
  private(set) var lastResident: Int64 = 0
  /// The anonymous part of it.
  private(set) var lastAnonymous: Int64 = 0
  /// What it held when it was last alive, in bytes; ``lastResident`` is zero from the moment of its death.
  private(set) var lastHeld: Int64 = 0
  /// The anonymous memory that other processes of the tree count: what a forked copy has in common with its parent,
  /// and what exceeds its proportional share at the last reading of `smaps_rollup`.
  private var sharedAnonymous: Int64 = 0
  /// For a forked copy that has not been read yet: the anonymous memory of its parent at the fork, or any amount if that
  /// is unknown.
  private var copiedAnonymous: Int64?
  /// The highest value seen without ``sharedAnonymous``.
  private var ownPeak: Int64 = 0
  /// The least anonymous memory of all other processes at any reading during its life.
  private var leastOthers: Int64?
  /// Whether a tracer reports its exec and exit, so that its name and last values need not be polled.
  private(set) var isFollowed: Bool
  /// Whether a tracer has yet to report its fork.
  private(set) var awaitsFork: Bool
  /// Whether it has executed a program since its fork; otherwise its memory is a copy of its parent's.
  private(set) var hasExecuted: Bool
  /// How many programs the tracer has seen it execute.
  private var programs = 0
  /// Whether values of its current program were read at the exit of one of its threads.
  private(set) var isReadAtExit = false
  /// Whether these were its last ones.
  private var isReadAtEnd = false
  private var peaks = ProgramPeaks()
  /// Whether some of its threads are not traced: their children are not reported, nor is an exec by one of them.
  private var isPartlyFollowed = false
  private var ending: WaitStatus?
  /// Whether it was seen outside of the cgroup of the target, such as the program of a container.
  private(set) var isOutside = false
  /// Set if it ran already when it was attached to.
  var attach: AttachedMark?

  private var statm: ProcFile?
  private var status: ProcFile?
  private var stat: ProcFile?
  /// The files of a living thread, if the first thread has ended by pthread_exit(3): those of the process then show no
  /// memory, although it still holds all of it.
  private var thread: ThreadFiles?
  /// False if too many files are open: then `statm` is opened for each reading, at five times the cost.
  private var keepsFileOpen: Bool
  private let namePath: String

  /// How long to poll the name, parent and memory sharing of a new process, in nanoseconds: most processes execute
  /// their program within microseconds of the fork, wrappers of interpreters within some 100 ms.
  private static let identityPollingTime: Int64 = 2_000_000_000

  init(
    pid: Int32,
    parent: Int32,
    time: Int64,
    keepsFileOpen: Bool,
    isFollowed: Bool = false,
    awaitsFork: Bool = false,
    isCopy: Bool = true,
    command: String = ""
  ) {
    self.pid = pid
    self.parent = parent
    self.command = command
    self.isFollowed = isFollowed
    hasExecuted = !isCopy
    self.awaitsFork = awaitsFork
    copiedAnonymous = awaitsFork ? .max : nil
    self.keepsFileOpen = keepsFileOpen
    namePath = "/proc/\(pid)/comm"
    firstSeen = time
    lastSeen = time
  }

  func record(isMain: Bool) -> ProcessRecord {
    var record = ProcessRecord(
      id: pid, parent: parent, command: command, isMain: isMain, peak: Bytes(peak),
      firstSeen: .nanoseconds(firstSeen), lastSeen: .nanoseconds(lastSeen), isExact: isExact,
      ending: ending.map(EndEvidence.Status.init)
    )
    record.programs = programs
    return record
  }

  /// Whether the peak is that of all of its programs, of which each was read at its end or can be told from `ru_maxrss`.
  private var isExact: Bool { isReadAtEnd && peak >= peaks.unread && attach?.isHidden != true }

  /// Whether its peak began anew when it was attached to; true for one that has begun later.
  var isMarkReset: Bool { attach?.isReset ?? true }
}

/// Two files of a thread.
private struct ThreadFiles: ~Copyable {
  /// Its folder under `/proc`.
  let path: String
  let statm: ProcFile
  let status: ProcFile

  /// Returns nil if there is no such thread, or if it has ended.
  init?(path: String, buffer: UnsafeMutableRawBufferPointer) {
    guard let status = ProcFile(path: path + "/status"), let statm = ProcFile(path: path + "/statm"),
      let text = status.read(into: buffer), ProcText.memory(inStatus: text) != nil
    else { return nil }
    self.path = path
    self.status = status
    self.statm = statm
  }
}

// MARK: - Trace events

extension TrackedProcess {
  /// The error of high-water marks: ``Machine/markBound(cpus:pageSize:release:)``.
  private static let markError = Machine.markBound(
    cpus: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), pageSize: PageSize.bytes, release: Machine.systemNames().release
  ).count

  /// Sets the parent, and how much anonymous memory it has in common with that one; this may be reported after its exec.
  ///
  /// Zero if the amount is unknown, nil if it shares the parent's memory, which is the lender's.
  func wasForked(by parent: Int32, copying copied: Int64?, lender: Int32) {
    (self.parent, awaitsFork) = (parent, false)
    isFollowed = !isPartlyFollowed
    guard !hasExecuted else { return }
    guard let copied else {
      borrowMemory(of: lender)
      // Earlier readings were of the parent's memory.
      return forgetCopy()
    }
    copiedAnonymous = copied > 0 ? copied : .max
    guard lastResident > 0 else { return }
    ownPeak = 0
    note(lastResident, at: lastSeen)
  }

  /// What it holds before its exec is not of the target.
  func awaitsProgram() {
    (hasExecuted, borrowsMemory, isFollowed) = (false, true, true)
    forgetCopy()
  }

  func borrowMemory(of lender: Int32) {
    (borrowsMemory, self.lender) = (true, lender)
  }

  /// Keeps the memory of its lender, which no longer has it.
  func keepBorrowedMemory() {
    borrowsMemory = false
  }

  private func forgetCopy() {
    (peak, lastResident, lastAnonymous, lastHeld, isReadAtExit) = (0, 0, 0, 0, false)
    if borrowsMemory { ownPeak = 0 }
  }

  /// Takes the place of the program before, if any; returns the peak of that one if it is known from `highest`, the most
  /// memory that the process has had so far.
  ///
  /// What a copy has inherited from its parent is no program of its own, but what it has had beyond that counts.
  func executed(_ program: TraceEvent.Program, highest: Int64, inherited: Int64, at time: Int64) -> Int64? {
    programs += 1
    let before =
      hasExecuted
      ? peaks.end(at: highest, unknownChildren: isPartlyFollowed)
      : borrowsMemory ? nil : peaks.endCopy(at: highest, inherited: inherited, error: Self.markError)
    if let before, hasExecuted { notePeak(before, shared: sharedAnonymous) }
    if !hasExecuted {
      forgetCopy()
      if let before { notePeak(before, shared: inherited) }
    }
    peaks.begin(at: highest)
    (isFollowed, hasExecuted, borrowsMemory) = (true, true, false)
    attach?.older = 0
    (isReadAtExit, isReadAtEnd, isPartlyFollowed) = (false, false, false)
    (copiedAnonymous, sharedAnonymous) = (nil, 0)
    command = program.command
    if let memory = program.memory { note(memory, at: time) }
    return before
  }

  /// Stores the last values of its program; false if it has no memory of its own.
  ///
  /// Unless it `isLast`, other threads may live on.
  func isExiting(_ program: TraceEvent.Program, isLast: Bool, at time: Int64) -> Bool {
    isFollowed = !isPartlyFollowed
    command = program.command
    guard !borrowsMemory, let memory = program.memory else { return false }
    note(sinceAttach(memory), at: time)
    (isReadAtExit, isReadAtEnd) = (true, isLast)
    return true
  }

  /// The most memory that it has had before is unknown.
  func isTracedFromNow(_ isTraced: Bool) {
    isFollowed = isTraced && !isPartlyFollowed
    peaks.begin(at: .max)
  }

  /// Its mark was read, and it is not followed any further.
  func hasLastReading() { isReadAtEnd = true }

  func createsUntracedThreads() {
    (isFollowed, isPartlyFollowed) = (false, true)
  }

  /// A child has ended that it may have waited for; `highest` is the most memory of that one.
  func childEnded(highest: Int64) {
    peaks.noteChild(highest)
  }

  /// Stops counting it for the tree: it has no memory left, although its trace events are still unread.
  func wasReaped() {
    (lastResident, lastAnonymous) = (0, 0)
  }

  /// Whether its end was reported.
  var hasEnded: Bool { ending != nil }

  func ended(_ status: WaitStatus, highest: Int64, at time: Int64) {
    ending = status
    if isReadAtExit, !isReadAtEnd {
      let last = peaks.end(at: highest, unknownChildren: isPartlyFollowed)
      if let last { notePeak(last, shared: sharedAnonymous) }
      isReadAtEnd = true
    }
    isAlive = false
    (lastResident, lastAnonymous) = (0, 0)
    lastSeen = max(lastSeen, time)
  }
}

// MARK: - Reading

extension TrackedProcess {
  /// Updates the name of the program, which an exec changes, and with a new name also the parent.
  ///
  /// Skips traced processes, and old ones unless `isWatched`.
  func updateIdentity(at time: Int64, isWatched: Bool, buffer: UnsafeMutableRawBufferPointer) {
    let isNew = time - firstSeen < Self.identityPollingTime
    guard !isFollowed, isNew || isWatched, let file = ProcFile(path: namePath),
      let text = file.read(into: buffer)
    else { return }
    if ProcText.isLine(text, command) && !borrowsMemory && time > firstSeen { return }
    guard let stat = ProcessStat(of: pid) else { return }
    parent = stat.parent
    command = stat.command
    borrowsMemory = LinuxCalls.sharesMemory(pid, parent) == true
  }

  /// The resident bytes; zero for a zombie or if it shares another process's memory, nil after its end.
  func resident(at time: Int64, buffer: UnsafeMutableRawBufferPointer) -> Int64? {
    if borrowsMemory, !isFollowed { borrowsMemory = LinuxCalls.sharesMemory(pid, parent) == true }
    guard let pages = pages(buffer: buffer) else {
      isAlive = false
      (lastResident, lastAnonymous) = (0, 0)
      return nil
    }
    isAlive = pages.resident > 0
    let page = borrowsMemory ? 0 : Int64(PageSize.bytes)
    (lastResident, lastAnonymous) = (pages.resident * page, pages.anonymous * page)
    if lastResident > 0 { note(lastResident, at: time) }
    return lastResident
  }

  private func pages(buffer: UnsafeMutableRawBufferPointer) -> ProcText.Pages? {
    if let pages = threadPages(buffer: buffer) { return pages }
    guard let pages = ownPages(buffer: buffer) else { return nil }
    guard pages.resident == 0, isAlive, followLivingThread(buffer: buffer) else { return pages }
    return threadPages(buffer: buffer) ?? pages
  }

  /// By the files of the thread that is followed; nil if there is none any more.
  private func threadPages(buffer: UnsafeMutableRawBufferPointer) -> ProcText.Pages? {
    guard let text = thread?.statm.read(into: buffer), case let pages = ProcText.pages(inStatm: text),
      pages.resident > 0
    else {
      thread = nil
      return nil
    }
    return pages
  }

  private func ownPages(buffer: UnsafeMutableRawBufferPointer) -> ProcText.Pages? {
    if keepsFileOpen, statm == nil {
      statm = ProcFile(path: "/proc/\(pid)/statm")
      keepsFileOpen = statm != nil
    }
    if keepsFileOpen { return statm?.read(into: buffer).map(ProcText.pages(inStatm:)) }
    let file = ProcFile(path: "/proc/\(pid)/statm")
    return file?.read(into: buffer).map(ProcText.pages(inStatm:))
  }

  /// The values of `status`; nil for a zombie, or if the process no longer exists.
  func memory(at time: Int64, buffer: UnsafeMutableRawBufferPointer) -> MemoryReading? {
    guard let memory = threadMemory(buffer: buffer) ?? ownMemory(buffer: buffer) else {
      isAlive = false
      return nil
    }
    isAlive = true
    let current = sinceAttach(memory)
    note(current, at: time)
    return current
  }

  private func threadMemory(buffer: UnsafeMutableRawBufferPointer) -> MemoryReading? {
    guard let text = thread?.status.read(into: buffer), let memory = ProcText.memory(inStatus: text) else {
      thread = nil
      return nil
    }
    return memory
  }

  private func ownMemory(buffer: UnsafeMutableRawBufferPointer) -> MemoryReading? {
    if status == nil { status = ProcFile(path: "/proc/\(pid)/status") }
    if let text = status?.read(into: buffer), let memory = ProcText.memory(inStatus: text) { return memory }
    return isAlive && followLivingThread(buffer: buffer) ? threadMemory(buffer: buffer) : nil
  }

  /// The activity of the process so far; nil if it has ended.
  func activity(buffer: UnsafeMutableRawBufferPointer) -> Activity? {
    if stat == nil { stat = ProcFile(path: "/proc/\(pid)/stat") }
    guard let text = stat?.read(into: buffer) else { return nil }
    return ProcText.activity(inStat: text)
  }

  /// Stores its proportional share of its anonymous memory.
  func noteProportional(_ share: Int64, ofAnonymous anonymous: Int64) {
    sharedAnonymous = max(0, anonymous - share)
  }

  /// Its anonymous memory that no other process counts.
  ///
  /// A forked child shares everything with its parent at first; until its share is read, only its growth counts.
  var ownAnonymous: Int64 { max(0, lastAnonymous - sharedAnonymous) }

  /// A thread that ends is moved to the root of cgroup v1, after it gave up its memory: only one that still has memory
  /// has left.
  func checkMembership(of cgroup: Cgroup, at time: Int64, buffer: UnsafeMutableRawBufferPointer) {
    isOutside = false
    let read = folder
    guard cgroup.isLeft(by: SmallFile.text(at: read + "/cgroup") ?? "") else { return }
    isOutside = (resident(at: time, buffer: buffer) ?? 0) > 0 && read == folder
  }

  /// Its pages of files and shared memory, which count for the main process only.
  var filePages: Int64 { lastResident - lastAnonymous }

  /// Compares the anonymous memory of the other processes with the least so far.
  func noteOthers(_ anonymous: Int64) {
    leastOthers = min(leastOthers ?? anonymous, anonymous)
  }

  /// A lower bound of the tree's peak: its own peak, with what the other processes had at all times.
  var treePeak: Int64 { ownPeak > 0 ? ownPeak + (leastOthers ?? 0) : 0 }

  private func note(_ memory: MemoryReading, at time: Int64) {
    (lastResident, lastAnonymous) = (memory.resident.count, memory.anonymous.count)
    note(max(memory.peak.count, memory.resident.count), at: time)
  }

  private func note(_ bytes: Int64, at time: Int64) {
    if let copied = copiedAnonymous {
      copiedAnonymous = nil
      sharedAnonymous = min(lastAnonymous, copied)
    }
    notePeak(bytes, shared: sharedAnonymous)
    lastHeld = lastResident
    lastSeen = max(lastSeen, time)
  }

  private func notePeak(_ bytes: Int64, shared: Int64) {
    peak = max(peak, bytes)
    ownPeak = max(ownPeak, bytes - shared)
  }

  /// Opens the files of a living thread if the first one, or the one whose files were open, has ended.
  ///
  /// Tries the newest thread first, since the oldest ones may be about to end like the first.
  ///
  /// - Returns: Whether there is such a thread.
  @discardableResult
  func followLivingThread(buffer: UnsafeMutableRawBufferPointer) -> Bool {
    guard ProcessStat(of: pid)?.isAlive == true else { return false }
    for (name, _) in SmallFolder.entries(of: "/proc/\(pid)/task").reversed() {
      guard let found = ThreadFiles(path: "/proc/\(pid)/task/\(name)", buffer: buffer) else { continue }
      // A kept file can be read until the process is reaped: the folder is not that of another process with its pid.
      let isSame = status?.read(into: buffer) != nil || statm?.read(into: buffer) != nil || !keepsFileOpen
      guard isSame else { return false }
      thread = consume found
      return true
    }
    return false
  }

  /// The folder under `/proc` whose files show its memory.
  var folder: String { thread?.path ?? "/proc/\(pid)" }
}
