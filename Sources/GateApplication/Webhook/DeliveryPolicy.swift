import GateCore

/// The time limits and the number of attempts of deliveries.
struct DeliveryPolicy: Sendable, Equatable {
  var connectTimeout: Duration = .seconds(5)
  /// For one attempt, including the connection.
  var attemptTimeout: Duration = .seconds(10)
  /// For all messages of one call.
  var totalTimeout: Duration = .seconds(30)
  /// The most attempts for one message in one run.
  var attempts = 5
  /// The longest pause after the first attempt; it doubles with each further one.
  var firstPause: Duration = .milliseconds(500)
  /// The part of the total time that queued messages may use while new ones wait (0 to 1).
  var queuedShare = 0.5

  /// The pause before the next attempt: random between zero and the doubled first pause, and at least what the server
  /// asked for in `Retry-After`.
  ///
  /// "Full jitter" (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). Attempts count from 1.
  func pause(after attempt: Int, retryAfter: Duration?) -> Duration {
    let longest = firstPause * (1 << min(max(attempt - 1, 0), 16))
    let chosen = Duration.nanoseconds(Int64.random(in: 0...max(0, longest.nanoseconds)))
    return max(chosen, retryAfter ?? .zero)
  }
}
