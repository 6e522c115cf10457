import Synchronization

/// The request of a signal to end the run now and to leave nothing behind.
package final class Interruption: Sendable {
  private struct State {
    var signal: Int32?
    var handlers: [Int: @Sendable () -> Void] = [:]
    var nextHandler = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// The number of the first signal; nil while there was none.
  package var signal: Int32? {
    state.withLock { $0.signal }
  }

  /// Records the signal and calls every handler, on the caller's thread; only the first call counts.
  package func request(by signal: Int32) {
    let handlers = state.withLock { state -> [@Sendable () -> Void] in
      guard state.signal == nil else { return [] }
      state.signal = signal
      return Array(state.handlers.values)
    }
    for handler in handlers { handler() }
  }

  /// Has `handler` called on a request, at once if there was one already, while `body` runs.
  ///
  /// The handler must not block; it may wake a descriptor.
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
