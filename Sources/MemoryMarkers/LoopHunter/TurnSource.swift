#if LoopHunter

/// Numbers the turns of a program's work: too many calls within one turn are a loop.
///
/// A turn that never ends is the case to detect, so a source must not number turns by time.
public protocol TurnSource: Sendable {
  /// The number of the current turn; different in each turn.
  func currentTurn() -> UInt64
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

/// The turns of a serial queue, a run loop or an event loop.
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

  /// Runs work as a turn of its own, including the tasks that it starts.
  ///
  /// - Parameter work: The work of the turn.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  public func perform<Value>(_ work: () throws -> Value) rethrows -> Value {
    try ScopedTurn.run(work)
  }

  /// The number of the current turn.
  public func currentTurn() -> UInt64 {
    ScopedTurn.current ?? counter.current()
  }
}

/// The turns of the main actor: from a call until the actor runs the next job.
///
/// Jobs that were already enqueued belong to the same turn; ``perform(_:)`` makes a job a turn of its own.
public final class MainActorTurn: TurnSource {
  private let counter = TurnCounter { end in Task { @MainActor in end() } }

  /// Counts the turns of the main actor, whose jobs call the hunter.
  public init() {}

  /// Runs work as a turn of its own, including the tasks that it starts.
  ///
  /// - Parameter work: The work of the turn.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  public func perform<Value>(_ work: () throws -> Value) rethrows -> Value {
    try ScopedTurn.run(work)
  }

  /// The number of the current turn.
  public func currentTurn() -> UInt64 {
    ScopedTurn.current ?? counter.current()
  }
}

/// The work of one request, across its suspensions and the tasks that it starts.
///
/// Outside ``run(_:)`` each call is a turn of its own, so no loop is detected there.
public struct TaskTurn: TurnSource {
  /// Counts the calls of ``run(_:)`` as turns.
  public init() {}

  /// Runs the work as one turn.
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
    ScopedTurn.current ?? ScopedTurn.next()
  }
}

/// The turns that are delimited by a function call.
private enum ScopedTurn {
  @TaskLocal static var current: UInt64?

  /// Starts at 2^63, so that the numbers differ from those of `TurnCounter`.
  private static let last = AtomicWord(1 << 63)

  static func next() -> UInt64 { last.increment() }

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
  private let scheduleEnd: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(scheduleEnd: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.scheduleEnd = scheduleEnd
  }

  func current() -> UInt64 {
    if isEnding.exchange(1) == 0 {
      scheduleEnd {
        self.turn.increment()
        self.isEnding.value = 0
      }
    }
    return turn.value
  }
}

#endif
