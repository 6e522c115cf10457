#if LoopHunter

/// Numbers the turns of a program's work: what comes by too often within one is a loop.
///
/// A turn that never ends is the case to catch, so a source must not number by time.
public protocol TurnSource: Sendable {
  /// The number of the turn that runs now; another one in each turn.
  func currentTurn() -> UInt64
}

/// Turns that the program tells of, such as one a request or frame.
public final class ManualTurn: TurnSource {
  private let turn = SharedWord()

  /// Starts with turn 0.
  public init() {}

  /// Begins the next turn.
  public func advance() {
    turn.next()
  }

  /// The number of the turn that runs now.
  public func currentTurn() -> UInt64 {
    turn.value
  }
}

/// The rounds of whatever runs pieces of work one after the other: a serial queue, a run loop, an event loop.
///
/// The first call in a turn sends a piece of work to the end of the line; the turn lasts until that is run. What was in
/// the line before it belongs to the same round, so a burst of 100 pieces of work that were put in at once is one turn.
/// Where bursts are usual, ``perform(_:)`` makes a piece of work a turn of its own:
///
///     queue.async { turn.perform { model.update() } }
///
/// The queue is given as what puts work into it, so that one type serves all of them:
///
///     QueueTurn { DispatchQueue.main.async(execute: $0) }
///     QueueTurn { eventLoop.execute($0) }          // SwiftNIO
///     QueueTurn { RunLoop.main.perform($0) }       // Foundation
public final class QueueTurn: TurnSource {
  private let counter: TurnCounter

  /// Follows the queue whose work calls the hunter.
  ///
  /// - Parameter enqueue: Puts a piece of work at the end of the line, and returns at once.
  public init(_ enqueue: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) {
    counter = TurnCounter(askForEnd: enqueue)
  }

  /// Runs a piece of work as a turn of its own, with the tasks that it starts.
  ///
  /// - Parameter work: What the turn does.
  /// - Returns: What the work returns.
  /// - Throws: What the work throws.
  public func perform<Value>(_ work: () throws -> Value) rethrows -> Value {
    try OpenTurn.run(work)
  }

  /// The number of the round that runs now.
  public func currentTurn() -> UInt64 {
    OpenTurn.current ?? counter.current()
  }
}

/// The rounds of the main actor: from a call to the next time that the actor takes up a new job.
///
/// Jobs that were waiting already belong to the same round; ``perform(_:)`` makes one a turn of its own.
public final class MainActorTurn: TurnSource {
  private let counter = TurnCounter { end in Task { @MainActor in end() } }

  /// Follows the main actor, whose jobs call the hunter.
  public init() {}

  /// Runs a piece of work as a turn of its own, with the tasks that it starts.
  ///
  /// - Parameter work: What the turn does.
  /// - Returns: What the work returns.
  /// - Throws: What the work throws.
  public func perform<Value>(_ work: () throws -> Value) rethrows -> Value {
    try OpenTurn.run(work)
  }

  /// The number of the round that runs now.
  public func currentTurn() -> UInt64 {
    OpenTurn.current ?? counter.current()
  }
}

/// The work of one request, across all its suspensions and the tasks that it starts.
///
/// What runs outside ``run(_:)`` belongs to no turn: each call is a turn of its own there, so nothing is found.
public struct TaskTurn: TurnSource {
  /// Follows what ``run(_:)`` runs.
  public init() {}

  /// Runs the work as one turn.
  ///
  /// - Parameters:
  ///   - isolation: The caller's actor.
  ///   - work: What the turn does.
  /// - Returns: What the work returns.
  /// - Throws: What the work throws.
  public static func run<Value>(
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Value
  ) async rethrows -> Value {
    try await OpenTurn.run(isolation: isolation, work)
  }

  /// The number of the turn that the calling task works for.
  public func currentTurn() -> UInt64 {
    OpenTurn.current ?? OpenTurn.next()
  }
}

/// Turns that begin and end with a piece of work, whoever asks for them.
private enum OpenTurn {
  @TaskLocal static var current: UInt64?

  /// From the middle on, so that none is taken for a round of the same number.
  private static let last = SharedWord(1 << 63)

  static func next() -> UInt64 { last.next() }

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

/// Counts turns that end when something that was asked for in the turn happens.
private final class TurnCounter: Sendable {
  private let turn = SharedWord()
  private let isEnding = SharedWord()
  private let askForEnd: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(askForEnd: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.askForEnd = askForEnd
  }

  func current() -> UInt64 {
    if isEnding.exchange(1) == 0 {
      askForEnd {
        self.turn.next()
        self.isEnding.value = 0
      }
    }
    return turn.value
  }
}

#endif
