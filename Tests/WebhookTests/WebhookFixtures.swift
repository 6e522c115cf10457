import Foundation
import GateCore
import HTTPTransfer
import LinuxSystem
import LoopbackServers
import Synchronization

@testable import GateApplication

/// A clock that passes pauses at once: it is ahead of the real one by what was slept.
final class SkippingClock: Sendable {
  private let slept = Mutex(Duration.zero)

  var now: ContinuousClock.Instant { .now + slept.withLock { $0 } }

  var delivery: DeliveryClock {
    DeliveryClock(now: { self.now }, sleep: { time in self.slept.withLock { $0 += time } })
  }
}

/// A sender with a temporary outbox, pauses that take no time, and timeouts for a loaded machine.
struct WebhookFixtures {
  let folder: TemporaryFolder
  let interruption = Interruption()
  let clock = SkippingClock()
  var policy = DeliveryPolicy()
  var trust = HTTPTrust()

  init() throws {
    folder = try TemporaryFolder()
    policy.firstPause = .milliseconds(5)
    policy.attemptTimeout = .seconds(20)
    policy.totalTimeout = .seconds(60)
  }

  var outbox: String { folder.path("artifacts/outbox") }

  func deliver(_ messages: [OutgoingMessage], to webhooks: [Webhook]) -> [DeliveryReport] {
    let tracked: @Sendable ([String]) -> Set<String> = { [outbox] in GitQuery.tracked($0, in: outbox) }
    return WebhookSender(
      outbox: outbox, of: "shop", tracked: tracked, policy: policy, trust: trust, clock: clock.delivery,
      interruption: interruption
    ).deliver(messages, webhooks: webhooks)
  }

  /// The messages in the outbox and what became of them, oldest first; without the marks of what was sent.
  func files() throws -> [String] {
    guard FileManager.default.fileExists(atPath: outbox) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: outbox).filter { !$0.hasSuffix(".sent") }.sorted()
  }

  func text(of file: String) throws -> String {
    try String(contentsOfFile: "\(outbox)/\(file)", encoding: .utf8)
  }

  /// Writes a file into the outbox, as another program would.
  func write(_ text: String, to name: String) throws {
    try FileManager.default.createDirectory(atPath: outbox, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(outbox)/\(name)"))
  }
}

extension Webhook {
  init(_ url: String, named reference: String = "${HOOK}", secret: String? = nil) {
    self.init(reference: reference, url: Secret(url), secret: secret.flatMap { SigningSecret($0) })
  }
}

extension OutgoingMessage {
  init(to webhook: Webhook, id: String, _ text: String = "{\"verdict\":\"pass\"}") {
    self.init(webhook: webhook, deliveryID: id, body: Array(text.utf8))
  }
}

extension DeliveryReport {
  var isQueued: Bool {
    if case .queued = outcome { true } else { false }
  }
}
