import GateCore
import Glibc

/// A process of the tree, as the sampler keeps it.
final class TrackedProcess {
  let pid: Int32
  private(set) var parent: Int32
  private(set) var command: String
  let firstSeen: Int64
  private(set) var lastSeen: Int64
  /// The highest figure seen, over all programs that the process was.
  private(set) var peak: Int64 = 0
  /// Whether it uses another process's memory, as a child does between vfork(2) and exec; it is not counted then.
  private(set) var borrowsMemory = false
  /// Whether the last reading found memory.
  private(set) var isAlive = true
  /// The last resident memory that was read, in bytes.
  private(set) var lastResident: Int64 = 0
  /// By how much its resident memory was more than its proportional share, at the last reading of that.
  private var sharedExcess: Int64 = 0
  /// Whether it is a copy of its parent, by fork(2), that was not read yet.
  private var isNewCopy = false
  /// Whether a tracer reports its exec and end, so that its name and its last values need not be looked for.
  private(set) var isFollowed: Bool
  /// Whether its present program is its own, and not a copy of its parent's by fork(2).
  private(set) var hasExecuted = false
  /// Whether its last values were read at its end, or the end of one of its threads.
  private(set) var isExact = false
  private var ending: WaitStatus?

  private var statm: ProcFile?
  private var status: ProcFile?
  private var stat: ProcFile?
  /// False beyond the descriptors that may be kept: then the file is opened for each reading, at five times the cost.
  private var keepsFile: Bool
  private let namePath: String

  /// How long a process is looked at for its name, its parent, and whose memory it uses, in nanoseconds: most that
  /// are forked execute their program within microseconds, wrappers of interpreters within some 100 ms.
  private static let youth: Int64 = 2_000_000_000

  init(pid: Int32, parent: Int32, time: Int64, keepsFile: Bool, isFollowed: Bool = false, command: String = "") {
    self.pid = pid
    self.parent = parent
    self.command = command
    self.isFollowed = isFollowed
    self.keepsFile = keepsFile
    namePath = "/proc/\(pid)/comm"
    firstSeen = time
    lastSeen = time
  }

  func record(isMain: Bool) -> ProcessRecord {
    ProcessRecord(
      id: pid, parent: parent, command: command, isMain: isMain, peak: Bytes(peak),
      firstSeen: .nanoseconds(firstSeen), lastSeen: .nanoseconds(lastSeen), isExact: isExact,
      ending: ending.map(EndEvidence.Status.init)
    )
  }
}

// MARK: - What a tracer reports

extension TrackedProcess {
  /// Takes in whose child it is, and whether it uses that one's memory; it may do so after its exec.
  func wasForked(by parent: Int32, borrowsMemory: Bool) {
    self.parent = parent
    isFollowed = true
    guard !hasExecuted else { return }
    isNewCopy = !borrowsMemory && lastResident == 0
    guard borrowsMemory else { return }
    self.borrowsMemory = true
    // What was read before belongs to the maker.
    (peak, lastResident, isExact) = (0, 0, false)
  }

  func executed(_ program: TraceEvent.Program, at time: Int64) {
    (isFollowed, hasExecuted, borrowsMemory, isExact) = (true, true, false, false)
    (isNewCopy, sharedExcess) = (false, 0)
    command = program.command
    if let memory = program.memory { note(memory, at: time) }
  }

  /// Takes in the last values of its program; false where they are another process's.
  func isExiting(_ program: TraceEvent.Program, at time: Int64) -> Bool {
    isFollowed = true
    command = program.command
    guard !borrowsMemory, let memory = program.memory else { return false }
    note(memory, at: time)
    isExact = true
    return true
  }

  func ended(_ status: WaitStatus, at time: Int64) {
    ending = status
    isAlive = false
    lastResident = 0
    lastSeen = max(lastSeen, time)
  }
}

// MARK: - Reading

extension TrackedProcess {
  /// Looks again at the name of the program, which an exec changes, and if it is another, at the parent.
  ///
  /// A process that is long known is left alone, but for one that `isWatched`; so is a traced one.
  func look(at time: Int64, isWatched: Bool, buffer: UnsafeMutableRawBufferPointer) {
    let isYoung = time - firstSeen < Self.youth
    guard !isFollowed, isYoung || isWatched, let file = ProcFile(path: namePath),
      let text = file.read(into: buffer)
    else { return }
    if ProcText.isLine(text, command) && !borrowsMemory && time > firstSeen { return }
    guard let stat = ProcessStat(of: pid) else { return }
    parent = stat.parent
    command = stat.command
    borrowsMemory = LinuxCalls.sharesMemory(pid, parent) == true
  }

  /// The resident bytes; zero for a zombie or a borrower, nil where the process has ended.
  func resident(at time: Int64, buffer: UnsafeMutableRawBufferPointer) -> Int64? {
    if borrowsMemory, !isFollowed { borrowsMemory = LinuxCalls.sharesMemory(pid, parent) == true }
    guard let pages = residentPages(buffer: buffer) else { return nil }
    isAlive = pages > 0
    let bytes = isAlive && !borrowsMemory ? pages * Int64(PageSize.bytes) : 0
    if bytes > 0 { note(bytes, at: time) }
    lastResident = bytes
    return bytes
  }

  private func residentPages(buffer: UnsafeMutableRawBufferPointer) -> Int64? {
    if keepsFile, statm == nil {
      statm = ProcFile(path: "/proc/\(pid)/statm")
      keepsFile = statm != nil
    }
    if keepsFile { return statm?.read(into: buffer).map(ProcText.residentPages(inStatm:)) }
    let file = ProcFile(path: "/proc/\(pid)/statm")
    return file?.read(into: buffer).map(ProcText.residentPages(inStatm:))
  }

  /// The values of `status`; nil for a zombie, or where the process is no more.
  func memory(at time: Int64, buffer: UnsafeMutableRawBufferPointer) -> MemoryReading? {
    if status == nil { status = ProcFile(path: "/proc/\(pid)/status") }
    guard let text = status?.read(into: buffer), let memory = ProcText.memory(inStatus: text) else { return nil }
    isAlive = true
    note(memory, at: time)
    return memory
  }

  /// What the process has done so far; nil where it has ended.
  func activity(buffer: UnsafeMutableRawBufferPointer) -> Activity? {
    if stat == nil { stat = ProcFile(path: "/proc/\(pid)/stat") }
    guard let text = stat?.read(into: buffer) else { return nil }
    return ProcText.activity(inStat: text)
  }

  /// Takes in how much of its resident memory is its own by shares.
  func noteProportional(_ share: Int64, of resident: Int64) {
    sharedExcess = max(0, resident - share)
  }

  /// What it counts for in a tree's sum: its resident memory, less what was found to be shared.
  ///
  /// A copy by fork(2) shares all with its maker at first; it counts with what it has gained until its share is read.
  var contribution: Int64 { max(0, lastResident - sharedExcess) }

  private func note(_ memory: MemoryReading, at time: Int64) {
    note(max(memory.peak.count, memory.resident.count), at: time)
    lastResident = memory.resident.count
  }

  private func note(_ bytes: Int64, at time: Int64) {
    if isNewCopy {
      isNewCopy = false
      sharedExcess = bytes
    }
    peak = max(peak, bytes)
    lastSeen = max(lastSeen, time)
  }

  /// Goes over to the files of a thread that lives, where the first thread has ended by pthread_exit(3): the files of
  /// the process then show no memory, though it holds all of it.
  ///
  /// - Returns: Whether there is such a thread.
  func goThroughLivingThread(buffer: UnsafeMutableRawBufferPointer) -> Bool {
    guard ProcessStat(of: pid)?.isAlive == true else { return false }
    for (name, _) in SmallFolder.entries(of: "/proc/\(pid)/task") {
      guard let file = ProcFile(path: "/proc/\(pid)/task/\(name)/status"),
        let text = file.read(into: buffer), ProcText.memory(inStatus: text) != nil
      else { continue }
      status = consume file
      statm = ProcFile(path: "/proc/\(pid)/task/\(name)/statm")
      return true
    }
    return false
  }
}
