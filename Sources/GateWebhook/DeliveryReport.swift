/// What came of one message.
package struct DeliveryReport: Sendable, Equatable {
  package enum Outcome: Sendable, Equatable {
    case delivered(attempts: Int)
    /// It lies in the outbox and goes out with a later run.
    case stored(problem: String)
    /// It is gone: it was not delivered, and the outbox could not keep it.
    case lost(problem: String)
  }

  /// The webhook's host, with its place in the project file where a host has several; `webhook 1` where the URL is
  /// none; `outbox` where there is no webhook to it.
  package let label: String
  package let outcome: Outcome
  package let deliveryID: String
  /// Whether an earlier run had left it behind.
  package let wasFromOutbox: Bool

  package init(label: String, outcome: Outcome, deliveryID: String, wasFromOutbox: Bool) {
    self.label = label
    self.outcome = outcome
    self.deliveryID = deliveryID
    self.wasFromOutbox = wasFromOutbox
  }
}

extension DeliveryReport {
  package var isDelivered: Bool {
    if case .delivered = outcome { true } else { false }
  }

  /// The report in one sentence.
  package var displayText: String {
    let which = wasFromOutbox ? "an earlier message for \(label)" : "the message for \(label)"
    return switch outcome {
    case .delivered(let attempts): "\(which) was delivered" + (attempts > 1 ? " at attempt \(attempts)" : "")
    case .stored(let problem): "\(which) was not delivered and waits in the outbox for the next run: \(problem)"
    case .lost(let problem): "\(which) is lost: \(problem)"
    }
  }
}
