#if InstanceProfiler

/// Counts the living instances of each Swift class in this process.
///
/// Not counted are objects on the stack, static objects, tasks, raw memory, and objects of C and C++. It changes machine
/// code or tables of addresses of this process while it runs, and costs time at each allocation: memory that is measured
/// meanwhile is not that of the program.
public enum InstanceProfiler {
  /// What is stored.
  public enum Mode: Sendable {
    /// Counts of each class; objects that are older than the start make them too small.
    case counts
    /// Each object, so that older objects do not count, and generations can be told apart; 24 bytes an object.
    case exact
  }

  /// How allocations are seen.
  public enum Hook: Sendable {
    /// The entry if possible, else the tables.
    case auto
    /// A jump at the entry of `swift_allocObject`: all allocations. Only possible while the process has one thread.
    case entry
    /// The tables of addresses in all modules but that of the standard library, whose own allocations are not seen.
    case tables
  }

  /// Why instances cannot be counted; nothing is changed then.
  public enum Refusal: Error, Sendable, Hashable {
    /// The functions of the Swift runtime were not found.
    case noRuntime
    /// `swift_allocObject` has other machine code than this library knows, or another tool has changed it.
    case unknownCode
    /// The process has other threads: start it as the first statement of the program.
    case otherThreads
    /// The system does not allow the change (mprotect(2)).
    case protectedMemory
    /// No module calls `free`, or with ``Hook/tables`` the runtime, through a table, as in a fully static program.
    case noTables
    /// There is no memory for the counts.
    case noMemory
    /// An object that was allocated as a test was not counted.
    case failedSelfTest
    /// A check of Highwater counts in this process already.
    case alreadyCounted
  }

  /// Whether instances are being counted.
  public static var isRunning: Bool { InstanceCounters.isRunning }

  /// Starts counting from zero; does nothing if it is on already.
  ///
  /// - Throws: ``Refusal``.
  public static func start(_ mode: Mode = .counts, hook: Hook = .auto) throws {
    if let refusal = InstanceCounters.start(isExact: mode == .exact, hook: hook) { throw refusal }
  }

  /// Stops counting; the counts stay as they are.
  public static func stop() { InstanceCounters.stop() }

  /// The counts of now, or of the stop.
  public static func snapshot(label: String = "") -> InstanceSnapshot {
    InstanceSnapshot(
      label: label, build: .current, hook: InstanceCounters.hook, uncounted: InstanceCounters.uncounted,
      classes: InstanceCounters.classes
    )
  }

  /// The living instances of a class, without those of its subclasses; nil if more were released than allocated.
  public static func liveCount(of type: AnyClass) -> Int? {
    guard let count = InstanceCounters.count(of: type) else { return 0 }
    return count.isTracked ? count.live : nil
  }

  /// Begins a new generation in exact mode; generation 0 lies before the first mark.
  ///
  /// - Returns: The number of the generation to which the objects that are allocated from now on belong.
  @discardableResult
  public static func markGeneration() -> Int { InstanceCounters.markGeneration() }

  /// The living instances of a class that were allocated in a generation, by their addresses; empty unless in exact mode.
  public static func objects(of type: AnyClass, inGeneration generation: Int) -> [UInt] {
    InstanceCounters.objects(of: type, inGeneration: generation)
  }

  /// Writes a snapshot in JSON to a file at each signal, in place of the signal's handler.
  ///
  /// - Returns: The error number (errno(3)), or nil on success.
  @discardableResult
  public static func writeSnapshots(to path: String, at signal: Int32) -> Int32? {
    InstanceCounters.writeSnapshots(to: path, at: signal)
  }
}

#endif
