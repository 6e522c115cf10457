#if LoopHunter

/// Numbers the turns of a program's work: too many calls within one turn are a loop.
///
/// A turn that never ends is the case to detect, so a source must not number turns by time.
public protocol TurnSource: Sendable {
  /// The number of the calling code's turn, different in each turn; `UInt64.max` outside of any turn, where each call is a
  /// turn of its own.
  func currentTurn() -> UInt64

  /// Whether no more calls belong to a turn; its count is then forgotten.
  func hasEnded(_ turn: UInt64) -> Bool
}

extension TurnSource {
  /// For sources with one turn at a time.
  public func hasEnded(_ turn: UInt64) -> Bool { turn != currentTurn() }
}

/// Turns that the program advances itself, such as one for each request or frame.
public final class ManualTurn: TurnSource {
  private let turn = AtomicWord()

  /// Starts with turn 0.
  public init() {}

  /// Starts the next turn.
  public func advance() {
    turn.increment()
  }

  /// The number of the current turn.
  public func currentTurn() -> UInt64 {
    turn.value
  }
}

/// The turns of a serial queue, a run loop or an event loop, which runs on one thread.
///
/// Calls by other code belong to no turn.
///
/// The first call in a turn enqueues a work item at the end of the queue; the turn lasts until that item runs. Items that
/// were enqueued before it belong to the same turn, so a burst of 100 items that were enqueued at once is one turn. Where
/// bursts are usual, ``perform(_:)`` makes a work item a turn of its own:
///
///     queue.async { turn.perform { model.update() } }
///
/// The queue is passed as a function that enqueues work, so that one type supports all of them:
///
///     QueueTurn { DispatchQueue.main.async(execute: $0) }
///     QueueTurn { eventLoop.execute($0) }          // SwiftNIO
///     QueueTurn { RunLoop.main.perform($0) }       // Foundation
public final class QueueTurn: TurnSource {
  private let counter: TurnCounter

  /// Counts the turns of the queue whose work calls the hunter.
  ///
  /// - Parameter enqueue: Enqueues a work item at the end of the queue, and returns at once.
  public init(_ enqueue: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) {
    counter = TurnCounter(scheduleEnd: enqueue)
  }

  /// Runs work as a turn of its own, including the tasks that it starts; within such work of the same task or thread it
  /// continues that turn.
  ///
  /// - Parameter work: The work of the turn.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  public func perform<Value>(_ work: () throws -> Value) rethrows -> Value {
    try ScopedTurn.run(work)
  }

  /// The number of the current turn.
  public func currentTurn() -> UInt64 {
    ScopedTurn.current?.number ?? counter.current()
  }

  /// Whether the turn has ended.
  public func hasEnded(_ turn: UInt64) -> Bool {
    ScopedTurn.hasEnded(turn) ?? counter.hasEnded(turn)
  }
}

/// The turns of the main actor: from a call until the actor runs the next job.
///
/// Jobs that were already enqueued belong to the same turn; ``perform(_:)`` makes a job a turn of its own.
public final class MainActorTurn: TurnSource {
  private let counter = TurnCounter { end in Task { @MainActor in end() } }

  /// Counts the turns of the main actor, whose jobs call the hunter.
  public init() {}

  /// Runs work as a turn of its own, including the tasks that it starts; within such work of the same task or thread it
  /// continues that turn.
  ///
  /// - Parameter work: The work of the turn.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  public func perform<Value>(_ work: () throws -> Value) rethrows -> Value {
    try ScopedTurn.run(work)
  }

  /// The number of the current turn.
  public func currentTurn() -> UInt64 {
    ScopedTurn.current?.number ?? counter.current()
  }

  /// Whether the turn has ended.
  public func hasEnded(_ turn: UInt64) -> Bool {
    ScopedTurn.hasEnded(turn) ?? counter.hasEnded(turn)
  }
}

/// The work of one request, across its suspensions and the tasks that it starts.
///
/// Outside ``run(isolation:_:)`` each call is a turn of its own, so no loop is detected there.
public struct TaskTurn: TurnSource {
  /// Counts the calls of ``run(isolation:_:)`` as turns.
  public init() {}

  /// Runs the work as one turn; within the work of the same task it continues that turn.
  ///
  /// - Parameters:
  ///   - isolation: The caller's actor.
  ///   - work: The work of the turn.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  public static func run<Value>(
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Value
  ) async rethrows -> Value {
    try await ScopedTurn.run(isolation: isolation, work)
  }

  /// The number of the turn of the calling task.
  public func currentTurn() -> UInt64 {
    ScopedTurn.current?.number ?? .max
  }

  /// Whether the work has ended, with all tasks that it started.
  public func hasEnded(_ turn: UInt64) -> Bool {
    ScopedTurn.hasEnded(turn) ?? true
  }
}

/// A turn that is delimited by a function call; it lives as long as the tasks that were started in it.
private final class ScopedTurn: Sendable {
  @TaskLocal static var current: ScopedTurn?

  /// The first number; those of `TurnCounter` are lower.
  private static let first: UInt64 = 1 << 63
  private static let last = AtomicWord(first)
  private static let lock = Lock()
  /// Protected by the lock.
  private nonisolated(unsafe) static var living: Set<UInt64> = []

  let number: UInt64
  private let owner: Int

  private init(owner: Int) {
    let number = Self.last.increment()
    self.number = number
    self.owner = owner
    Self.lock.withLock { _ = Self.living.insert(number) }
  }

  deinit {
    let number = number
    Self.lock.withLock { _ = Self.living.remove(number) }
  }

  /// Whether a turn has ended; nil if it is not delimited by a call.
  static func hasEnded(_ turn: UInt64) -> Bool? {
    turn < first ? nil : lock.withLock { !living.contains(turn) }
  }

  /// The turn for work that starts now: that of the work which calls it, if it has one, else a new one.
  private static func next() -> ScopedTurn {
    let owner = withUnsafeCurrentTask { $0?.hashValue } ?? Int(truncatingIfNeeded: Context.current)
    return current.flatMap { $0.owner == owner ? $0 : nil } ?? ScopedTurn(owner: owner)
  }

  static func run<Value>(_ work: () throws -> Value) rethrows -> Value {
    try $current.withValue(next(), operation: work)
  }

  static func run<Value>(
    isolation: isolated (any Actor)?,
    _ work: () async throws -> Value
  ) async rethrows -> Value {
    try await $current.withValue(next(), operation: work, isolation: isolation)
  }
}

/// Counts turns that end when a scheduled work item runs.
private final class TurnCounter: Sendable {
  private let turn = AtomicWord()
  private let isEnding = AtomicWord()
  /// The queue or thread of the work; 0 until its first item has run.
  private let owner = AtomicWord()
  private let scheduleEnd: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(scheduleEnd: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.scheduleEnd = scheduleEnd
    scheduleEnd { self.owner.value = Context.current }
  }

  func hasEnded(_ number: UInt64) -> Bool { number != turn.value }

  func current() -> UInt64 {
    let owner = owner.value
    guard owner == 0 || owner == Context.current else { return .max }
    if isEnding.exchange(1) == 0 {
      scheduleEnd {
        self.owner.value = Context.current
        self.turn.increment()
        self.isEnding.value = 0
      }
    }
    return turn.value
  }
}

#endif
