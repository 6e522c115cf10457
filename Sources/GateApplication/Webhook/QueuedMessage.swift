import Digests
import FoundationEssentials
import GateCore

/// A message as a file in the outbox; contains neither the webhook's URL nor its secret.
///
/// Its ``proof`` tells a message of an earlier run of the project from a file that somebody else put into the folder, or
/// that comes from another project.
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
  /// The HMAC of the other fields and the project's name, with the webhook's secret as its key.
  let proof: String

  init(_ message: OutgoingMessage, of project: String, createdAt: Date) {
    schema = Self.currentSchema
    deliveryID = message.deliveryID
    event = message.event
    self.createdAt = createdAt
    webhook = message.webhook.key
    body = Data(message.body)
    proof = Self.proof(of: message, in: project, createdAt: createdAt)
  }

  /// The proof that a run of the project with the secret of the message's webhook wrote it.
  ///
  /// The text begins with the schema, which has a slash before any period, and that of a request's signature with the ID
  /// and a period, so that neither can take the place of the other. No field but the body contains a line feed.
  private static func proof(of message: OutgoingMessage, in project: String, createdAt: Date) -> String {
    let fields = [
      currentSchema, StableHash.hexadecimal(of: project), message.webhook.key, message.event, message.deliveryID,
      "\(Int64(createdAt.timeIntervalSince1970))",
    ]
    let text = Array((fields.joined(separator: "\n") + "\n").utf8) + message.body
    return SHA256.hexadecimal(SHA256.authentication(of: text, key: message.webhook.proofKey))
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

  /// The message to send to the webhook with its key; nil if no run of the project with the webhook's secret wrote it.
  func message(to webhook: Webhook, of project: String) -> OutgoingMessage? {
    let message = OutgoingMessage(webhook: webhook, event: event, deliveryID: deliveryID, body: Array(body))
    return Self.proof(of: message, in: project, createdAt: createdAt) == proof ? message : nil
  }
}

extension Webhook {
  /// Identifies the webhook of a queued message: a hash of the URL as in the project file, so that it contains no
  /// secret of the environment.
  var key: String {
    StableHash.hexadecimal(of: reference)
  }

  /// The key of ``QueuedMessage/proof``: the secret, or without one the URL, which is the secret of a chat's webhook.
  fileprivate var proofKey: [UInt8] {
    Array((secret?.text ?? url).exposed.utf8)
  }
}
