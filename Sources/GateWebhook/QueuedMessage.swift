import FoundationEssentials
import GateCore

/// A message as a file in the outbox; contains neither the webhook's URL nor its secret.
struct QueuedMessage: Codable, Equatable {
  static let currentSchema = "highwater.outbox/1"

  let schema: String
  let deliveryID: String
  let event: String
  let createdAt: Date
  /// The key of its webhook.
  let webhook: String
  /// Base64 in the file, since a signature covers the exact bytes.
  let body: Data

  init(_ message: OutgoingMessage, createdAt: Date) {
    schema = Self.currentSchema
    deliveryID = message.deliveryID
    event = message.event
    self.createdAt = createdAt
    webhook = message.webhook.key
    body = Data(message.body)
  }

  /// Parses a file; nil if the bytes are not a message.
  init?(parsing bytes: [UInt8]) {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    guard let message = try? decoder.decode(QueuedMessage.self, from: Data(bytes)),
      message.schema == Self.currentSchema, message.hasValidNames
    else { return nil }
    self = message
  }

  /// Whether ID and event may be part of a header and of a file name.
  var hasValidNames: Bool {
    PlainName.isValid(deliveryID) && PlainName.isValid(event)
  }

  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(self)) + [0x0a]
  }

  /// The message to send to the webhook with its key.
  func message(to webhook: Webhook) -> OutgoingMessage {
    OutgoingMessage(webhook: webhook, event: event, deliveryID: deliveryID, body: Array(body))
  }
}

extension Webhook {
  /// Identifies the webhook of a queued message: a hash of the URL as in the project file, so that it contains no
  /// secret of the environment.
  var key: String {
    StableHash.hexadecimal(of: reference)
  }
}
