import GateCore
import FoundationEssentials

/// A message for one webhook.
struct OutgoingMessage: Sendable {
  var webhook: Webhook
  /// The `X-Highwater-Event` header: `check`.
  var event: String
  /// The same for every attempt, so that a receiver recognises duplicates.
  var deliveryID: String
  var body: [UInt8]

  /// Creates a message; event and ID consist of letters, digits, `.`, `_` and `-`.
  init(
    webhook: Webhook,
    event: String = "check",
    deliveryID: String = UUID().uuidString.lowercased(),
    body: [UInt8]
  ) {
    self.webhook = webhook
    self.event = event
    self.deliveryID = deliveryID
    self.body = body
  }
}
