package import GateCore
import FoundationEssentials

/// A message for one webhook.
package struct OutgoingMessage: Sendable {
  package var webhook: Webhook
  /// What it is about, as `X-Highwater-Event` says: `check`.
  package var event: String
  /// The same for every attempt, by which a receiver knows a message that it has already.
  package var deliveryID: String
  package var body: [UInt8]

  /// Makes a message; letters, digits, `.`, `_` and `-` make an event and an id.
  package init(
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
