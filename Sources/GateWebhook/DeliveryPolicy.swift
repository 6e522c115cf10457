import GateCore

/// How long and how often a delivery is tried.
package struct DeliveryPolicy: Sendable, Equatable {
  package var connectTimeout: Duration = .seconds(5)
  /// For one attempt, connecting too.
  package var attemptTimeout: Duration = .seconds(10)
  /// For everything that one call delivers.
  package var totalBudget: Duration = .seconds(30)
  /// The most attempts for one message in one run.
  package var attempts = 5
  /// The longest pause after the first attempt; it doubles with each further one.
  package var firstPause: Duration = .milliseconds(500)
  /// The part of the budget that older messages may use while new ones wait for their turn.
  package var outboxShare = 0.5

  package init() {}

  /// A pause before the next attempt: random, and not less than the server asked for.
  ///
  /// From none to the doubled first pause ("full jitter", M. Brooker, "Exponential Backoff And Jitter", AWS
  /// Architecture Blog, 2015). Attempts count from 1.
  func pause(after attempt: Int, asked: Duration?) -> Duration {
    let longest = firstPause * (1 << min(max(attempt - 1, 0), 16))
    let chosen = Duration.nanoseconds(Int64.random(in: 0...max(0, longest.nanoseconds)))
    return max(chosen, asked ?? .zero)
  }
}
