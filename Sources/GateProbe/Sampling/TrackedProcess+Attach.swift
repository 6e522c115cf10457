import GateCore

/// The high-water mark of a process that ran already when it was attached to.
struct AttachedMark {
  /// Whether the mark was reset then (proc_pid_clear_refs(5)).
  let isReset: Bool
  /// The program that the process executed.
  fileprivate let image: ProgramImage?
  /// The mark as it was then, which may be older; 0 if it was reset, or if a later program has one of its own.
  var older: Int64
  /// Whether the last mark that was read was still the older one, so that a lower peak since then may have been missed.
  private(set) var isHidden = false

  fileprivate init(of pid: Int32, buffer: UnsafeMutableRawBufferPointer) {
    isReset = (try? SmallFile.write("5", to: "/proc/\(pid)/clear_refs")) != nil
    image = ProgramImage(of: pid)
    let file = ProcFile(path: "/proc/\(pid)/status")
    let memory = file?.read(into: buffer).flatMap { ProcText.memory(inStatus: $0) }
    older = isReset ? 0 : memory?.peak.count ?? 0
  }

  /// The reading without a mark that may be older than the attach.
  fileprivate mutating func applied(to memory: MemoryReading) -> MemoryReading {
    isHidden = memory.peak.count <= older
    guard isHidden else { return memory }
    var current = memory
    current.peak = current.resident
    return current
  }
}

/// Where the kernel has put a program's code and stack, which tells it from one that the process executes later.
struct ProgramImage: Equatable {
  private let addresses: [UInt64]

  /// Returns nil if the process has ended, or if its addresses may not be read.
  init?(of pid: Int32) {
    guard let text = SmallFile.text(at: "/proc/\(pid)/stat", atMost: 1024) else { return nil }
    self.init(inStat: text)
  }

  /// Fields 26 to 28 of proc_pid_stat(5), of which the third one is the state, behind the name; 1 means not permitted.
  init?(inStat text: String) {
    guard let name = text.lastIndex(of: ")") else { return nil }
    let fields = text[name...].split(separator: " ").dropFirst()
    addresses = fields.dropFirst(23).prefix(3).compactMap { UInt64($0) }
    guard addresses.count == 3, addresses.allSatisfy({ $0 > 1 }) else { return nil }
  }
}

extension TrackedProcess {
  /// Lets its peak begin now, unless it was started for this repetition.
  func wasAttached(to attached: AttachedProcesses, isTraced: Bool, buffer: UnsafeMutableRawBufferPointer) {
    isTracedFromNow(isTraced)
    if !attached.isOwn { attach = AttachedMark(of: pid, buffer: buffer) }
  }

  /// Reads its peak before it is let go of.
  func isLetGo(at time: Int64, isTraced: Bool, buffer: UnsafeMutableRawBufferPointer) {
    guard memory(at: time, buffer: buffer) != nil else { return }
    let isSame = attach?.image != nil && attach?.image == ProgramImage(of: pid)
    if isTraced ? isFollowed : isSame { hasLastReading() }
  }

  /// The reading with a mark that is not older than the attach, if there was one.
  func sinceAttach(_ memory: MemoryReading) -> MemoryReading { attach?.applied(to: memory) ?? memory }
}
