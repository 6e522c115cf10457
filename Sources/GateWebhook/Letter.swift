import FoundationEssentials
import GateCore

/// A message as it lies in the outbox; holds neither the webhook's URL nor its secret.
struct Letter: Codable, Equatable {
  static let currentSchema = "highwater.outbox/1"

  let schema: String
  let deliveryID: String
  let event: String
  let createdAt: Date
  /// The key of the webhook that it is for.
  let webhook: String
  /// In base64 within the file, since a signature is over the very bytes.
  let body: Data

  init(_ message: OutgoingMessage, createdAt: Date) {
    schema = Self.currentSchema
    deliveryID = message.deliveryID
    event = message.event
    self.createdAt = createdAt
    webhook = message.webhook.key
    body = Data(message.body)
  }

  /// Reads a letter; nil where the bytes are not one.
  init?(parsing bytes: [UInt8]) {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    guard let letter = try? decoder.decode(Letter.self, from: Data(bytes)),
      letter.schema == Self.currentSchema, letter.isSound
    else { return nil }
    self = letter
  }

  /// Whether id and event may stand in a header and in the name of a file.
  var isSound: Bool {
    PlainName.isValid(deliveryID) && PlainName.isValid(event)
  }

  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(self)) + [0x0a]
  }

  /// The message for the webhook that has the letter's key.
  func message(to webhook: Webhook) -> OutgoingMessage {
    OutgoingMessage(webhook: webhook, event: event, deliveryID: deliveryID, body: Array(body))
  }
}

extension Webhook {
  /// By which a letter finds its webhook again: made of what the project file says, without the environment's secrets.
  var key: String {
    StableHash.hexadecimal(of: reference)
  }
}
