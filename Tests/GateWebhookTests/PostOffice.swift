import Foundation
import GateCore
import GateWebhook
import HTTPTransfer
import LinuxSystem
import LoopbackServers

/// A postman with an outbox of its own, made for tests: short pauses, and time enough for a loaded machine.
struct PostOffice {
  let folder: TemporaryFolder
  let interruption = Interruption()
  var policy = DeliveryPolicy()
  var trust = HTTPTrust()

  init() throws {
    folder = try TemporaryFolder()
    policy.firstPause = .milliseconds(5)
    policy.attemptTimeout = .seconds(20)
    policy.totalBudget = .seconds(60)
  }

  var outbox: String { folder.path("artifacts/outbox") }

  func deliver(_ messages: [OutgoingMessage], to webhooks: [Webhook]) -> [DeliveryReport] {
    Postman(outbox: outbox, policy: policy, trust: trust, interruption: interruption)
      .deliver(messages, webhooks: webhooks)
  }

  /// The visible files of the outbox, oldest first.
  func files() throws -> [String] {
    guard FileManager.default.fileExists(atPath: outbox) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: outbox).sorted()
  }

  func text(of file: String) throws -> String {
    try String(contentsOfFile: "\(outbox)/\(file)", encoding: .utf8)
  }

  /// Puts a file into the outbox by another hand.
  func put(_ text: String, as name: String) throws {
    try FileManager.default.createDirectory(atPath: outbox, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(outbox)/\(name)"))
  }
}

extension Webhook {
  init(_ url: String, named reference: String = "${HOOK}", secret: String? = nil) {
    self.init(reference: reference, url: Secret(url), secret: secret.map { Secret($0) })
  }
}

extension OutgoingMessage {
  init(to webhook: Webhook, id: String, _ text: String = "{\"verdict\":\"pass\"}") {
    self.init(webhook: webhook, deliveryID: id, body: Array(text.utf8))
  }
}

extension DeliveryReport {
  /// The outcome's problem; nil where the message was delivered.
  var problem: String? {
    switch outcome {
    case .delivered: nil
    case .stored(let problem), .lost(let problem): problem
    }
  }

  var isStored: Bool {
    if case .stored = outcome { true } else { false }
  }
}
