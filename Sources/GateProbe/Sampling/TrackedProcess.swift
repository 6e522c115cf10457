import GateCore
import Glibc

/// A process of the family, as the sampler keeps it.
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

  private var statm: ProcFile?
  private var status: ProcFile?
  private let namePath: String

  /// How long a process is looked at for its name, its parent, and whose memory it uses, in nanoseconds: most that
  /// are forked execute their program within microseconds, wrappers of interpreters within some 100 ms.
  private static let youth: Int64 = 2_000_000_000

  init(pid: Int32, parent: Int32, time: Int64, keepsFile: Bool) {
    self.pid = pid
    self.parent = parent
    command = ""
    namePath = "/proc/\(pid)/comm"
    firstSeen = time
    lastSeen = time
    statm = keepsFile ? ProcFile(path: "/proc/\(pid)/statm") : nil
  }

  /// Looks again at the name of the program, which an exec changes, and if it is another, at the parent.
  ///
  /// A process that is long known is left alone, but for one that `isWatched`.
  func look(at time: Int64, isWatched: Bool, buffer: UnsafeMutableRawBufferPointer) {
    let isYoung = time - firstSeen < Self.youth
    guard isYoung || isWatched, let file = ProcFile(path: namePath), let text = file.read(into: buffer) else { return }
    if ProcText.isLine(text, command) && !borrowsMemory && time > firstSeen { return }
    guard let stat = ProcessStat(of: pid) else { return }
    parent = stat.parent
    command = stat.command
    borrowsMemory = LinuxCalls.sharesMemory(pid, parent) == true
  }

  /// The resident bytes; zero for a zombie or a borrower, nil where the process is no more.
  func resident(at time: Int64, buffer: UnsafeMutableRawBufferPointer) -> Int64? {
    if borrowsMemory { borrowsMemory = LinuxCalls.sharesMemory(pid, parent) == true }
    guard let pages = residentPages(buffer: buffer) else { return nil }
    isAlive = pages > 0
    guard isAlive, !borrowsMemory else { return 0 }
    let bytes = pages * Int64(PageSize.bytes)
    note(bytes, at: time)
    return bytes
  }

  private func residentPages(buffer: UnsafeMutableRawBufferPointer) -> Int64? {
    if statm != nil {
      return statm?.read(into: buffer).map(ProcText.residentPages(inStatm:))
    }
    // Beyond the descriptors that may be kept: opened each time, which costs five times as much.
    let file = ProcFile(path: "/proc/\(pid)/statm")
    return file?.read(into: buffer).map(ProcText.residentPages(inStatm:))
  }

  /// The figures of `status`; nil for a zombie, or where the process is no more.
  func figures(at time: Int64, buffer: UnsafeMutableRawBufferPointer) -> MemoryFigures? {
    if status == nil { status = ProcFile(path: "/proc/\(pid)/status") }
    guard let text = status?.read(into: buffer), let figures = ProcText.figures(inStatus: text) else { return nil }
    isAlive = true
    note(max(figures.peak.count, figures.resident.count), at: time)
    return figures
  }

  private func note(_ bytes: Int64, at time: Int64) {
    peak = max(peak, bytes)
    lastSeen = time
  }

  /// Goes over to the files of a thread that lives, where the first thread has ended by pthread_exit(3): the files of
  /// the process then show no memory, though it holds all of it.
  ///
  /// - Returns: Whether there is such a thread.
  func goThroughLivingThread(buffer: UnsafeMutableRawBufferPointer) -> Bool {
    guard ProcessStat(of: pid)?.isAlive == true, let folder = opendir("/proc/\(pid)/task") else { return false }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard name.first?.isNumber == true, let file = ProcFile(path: "/proc/\(pid)/task/\(name)/status"),
        let text = file.read(into: buffer), ProcText.figures(inStatus: text) != nil
      else { continue }
      status = consume file
      statm = ProcFile(path: "/proc/\(pid)/task/\(name)/statm")
      return true
    }
    return false
  }

  func record(isMain: Bool) -> ProcessRecord {
    ProcessRecord(
      id: pid, parent: parent, command: command, isMain: isMain, peak: Bytes(peak),
      firstSeen: .nanoseconds(firstSeen), lastSeen: .nanoseconds(lastSeen)
    )
  }
}

/// The size of a page of memory on this machine.
enum PageSize {
  static let bytes = Int(sysconf(Int32(_SC_PAGESIZE)))
}
