import Synchronization

/// A request by a signal to end the run at once and to clean up.
package final class Interruption: Sendable {
  private struct State {
    var signal: Signal?
    var handlers: [Int: @Sendable () -> Void] = [:]
    var nextHandler = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// The first signal that requested it; nil before.
  package var signal: Signal? {
    state.withLock { $0.signal }
  }

  /// Records the signal and calls all handlers on the caller's thread; only the first call has an effect.
  package func request(by signal: Signal) {
    let handlers = state.withLock { state -> [@Sendable () -> Void] in
      guard state.signal == nil else { return [] }
      state.signal = signal
      return Array(state.handlers.values)
    }
    for handler in handlers { handler() }
  }

  /// Runs `body`, and calls `handler` on a request meanwhile or on one before.
  ///
  /// The handler must not block; it is meant to wake a poll(2).
  package func whileWatching<Value, Failure: Error>(
    with handler: @escaping @Sendable () -> Void,
    body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let (key, requested) = state.withLock { state in
      state.nextHandler += 1
      state.handlers[state.nextHandler] = handler
      return (state.nextHandler, state.signal != nil)
    }
    defer { state.withLock { $0.handlers[key] = nil } }
    if requested { handler() }
    return try body()
  }
}
