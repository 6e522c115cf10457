import FoundationEssentials
import GateCore
import HTTPTransfer

/// One call of ``WebhookSender/deliver(_:webhooks:)``: its deadline, the webhooks that failed, and the reports so far.
struct DeliveryRun: ~Copyable {
  /// How long a message waits: an older one is news to nobody, and a copy of it, which has the same proof, must not be.
  private static let retention: TimeInterval = 30 * 24 * 3600

  private let attempts: DeliveryAttempts
  private let policy: DeliveryPolicy
  private let clock: DeliveryClock
  private let project: String
  private let webhooks: [Webhook]
  private let deadline: ContinuousClock.Instant
  /// Keys of the webhooks to which no message could be delivered in this run.
  private var failedKeys: Set<String> = []
  private(set) var reports: [DeliveryReport] = []

  init(
    attempts: consuming DeliveryAttempts, policy: DeliveryPolicy, clock: DeliveryClock, of project: String,
    webhooks: [Webhook]
  ) {
    self.attempts = attempts
    (self.policy, self.clock, self.project, self.webhooks) = (policy, clock, project, webhooks)
    deadline = clock.now() + policy.totalTimeout
  }

  /// The end of an equal share of the time until `end`, for the first of `count` deliveries.
  private func share(of count: Int, until end: ContinuousClock.Instant) -> ContinuousClock.Instant {
    let now = clock.now()
    return now + max(.zero, now.duration(to: end)) / max(1, count)
  }

  // MARK: New messages

  /// Delivers a message and removes its file from the outbox.
  mutating func deliver(
    _ message: OutgoingMessage,
    storedAs file: Result<String, OutboxError>,
    in outbox: Outbox?,
    remaining: Int
  ) {
    let limit = failedKeys.contains(message.webhook.key) ? 1 : policy.attempts
    let outcome: DeliveryOutcome
    do {
      let count = try attempts.send(message, atMost: limit, until: share(of: remaining, until: deadline))
      if case .success(let name) = file { outbox?.remove(name) }
      outcome = .delivered(attempts: count)
    } catch {
      switch file {
      case .success(let name): outcome = outbox?.outcome(of: name, after: error) ?? error.whenQueued
      case .failure(let storing): outcome = .lost(error.reason, attempts: error.number, storing)
      }
    }
    report(outcome, of: message.deliveryID, to: message.webhook, wasQueued: false)
  }

  // MARK: Queued messages

  /// Delivers the messages that earlier runs left, one webhook after the other.
  mutating func deliver(
    _ contents: Outbox.Contents,
    of outbox: Outbox,
    to webhooks: [Webhook],
    beforeNewMessages: Bool
  ) {
    for name in contents.malformed {
      let file = FileName.component(for: name)
      report(.malformed(file: file), of: file, to: nil, wasQueued: true)
    }
    var current: [Outbox.Entry] = []
    for entry in contents.entries {
      if entry.message.isOlder(than: Self.retention) { expire(entry, in: outbox) } else { current.append(entry) }
    }
    let now = clock.now()
    let end = beforeNewMessages ? now + now.duration(to: deadline) * policy.queuedShare : deadline
    let entries = Dictionary(grouping: current, by: \.message.webhook)
    // Webhooks with the same URL have the same key: the first of them gets the messages.
    var receivers: [Webhook] = []
    for webhook in webhooks.filter(\.unsetVariables.isEmpty)
    where entries[webhook.key] != nil && !receivers.contains(where: { $0.key == webhook.key }) {
      receivers.append(webhook)
    }
    for (index, webhook) in receivers.enumerated() {
      let limit = share(of: receivers.count - index, until: end)
      deliver(entries[webhook.key] ?? [], of: outbox, to: webhook, until: limit)
    }
    let keys = Set(webhooks.map(\.key))
    for entry in current where !keys.contains(entry.message.webhook) {
      keepWithoutWebhook(entry, in: outbox)
    }
  }

  /// Delivers the queued messages of one webhook; after the first retryable failure each gets one attempt.
  private mutating func deliver(
    _ entries: [Outbox.Entry],
    of outbox: Outbox,
    to webhook: Webhook,
    until end: ContinuousClock.Instant
  ) {
    var limit = policy.attempts
    for (index, entry) in entries.enumerated() {
      guard !failedKeys.contains(webhook.key), clock.now() < end else {
        let count = entries.count - index
        report(.postponed(count: count), of: entry.message.deliveryID, to: webhook, wasQueued: true)
        return
      }
      let message: OutgoingMessage
      switch verified(entry, for: webhook) {
      case .success(let verified): message = verified
      case .failure(let doubt):
        outbox.markBroken(entry.name)
        report(.unproven(file: entry.name, doubt), of: entry.message.deliveryID, to: webhook, wasQueued: true)
        continue
      }
      let outcome: DeliveryOutcome
      do {
        outcome = .delivered(attempts: try attempts.send(message, atMost: limit, until: end))
        outbox.markSent(entry)
      } catch {
        outcome = outbox.outcome(of: entry.name, after: error)
        if error.reason.isRetryable { limit = 1 }
        if error.reason.affectsAllMessages { failedKeys.insert(webhook.key) }
      }
      report(outcome, of: entry.message.deliveryID, to: webhook, wasQueued: true)
    }
  }

  /// The message of an entry, if a run of this project wrote it, and none has sent it.
  private func verified(_ entry: Outbox.Entry, for webhook: Webhook) -> Result<OutgoingMessage, MessageDoubt> {
    guard let message = entry.message.message(to: webhook, of: project) else { return .failure(.noProof) }
    if entry.isTracked { return .failure(.tracked) }
    return entry.wasSent ? .failure(.sentBefore) : .success(message)
  }

  private mutating func expire(_ entry: Outbox.Entry, in outbox: Outbox) {
    outbox.remove(entry.name)
    report(.expired, of: entry.message.deliveryID, to: nil, wasQueued: true)
  }

  /// Keeps a message without a webhook, and reports it in the first run that finds it.
  private mutating func keepWithoutWebhook(_ entry: Outbox.Entry, in outbox: Outbox) {
    guard !entry.isReported else { return }
    outbox.markReported(entry)
    report(.withoutWebhook, of: entry.message.deliveryID, to: nil, wasQueued: true)
  }

  private mutating func report(
    _ outcome: DeliveryOutcome,
    of deliveryID: String,
    to webhook: Webhook?,
    wasQueued: Bool
  ) {
    let label = webhook.map { WebhookLabel(of: $0, among: webhooks) }
    reports.append(DeliveryReport(webhook: label, deliveryID: deliveryID, wasQueued: wasQueued, outcome: outcome))
  }
}

extension QueuedMessage {
  fileprivate func isOlder(than age: TimeInterval) -> Bool { Date.now.inFileYears.timeIntervalSince(createdAt) > age }
}

extension Outbox {
  /// What becomes of a stored message after its last attempt; sets it aside if the server refused it for good.
  fileprivate func outcome(of name: String, after attempt: FailedAttempt) -> DeliveryOutcome {
    guard attempt.reason.isRejection, let file = setAside(name) else { return attempt.whenQueued }
    return .rejected(attempt.reason, attempts: attempt.number, file: file)
  }
}

extension FailedAttempt {
  fileprivate var whenQueued: DeliveryOutcome { .queued(reason, attempts: number) }
}

extension WebhookLabel {
  /// The host of the webhook, with its position if the host alone is missing or ambiguous.
  init(of webhook: Webhook, among webhooks: [Webhook]) {
    func hostName(of webhook: Webhook) -> String? { try? HTTPAddress(parsing: webhook.url.exposed).host }
    let host = hostName(of: webhook)
    let isUnique = host != nil && !webhooks.contains { $0 != webhook && hostName(of: $0) == host }
    self.init(host: host, position: isUnique ? nil : webhooks.firstIndex(of: webhook).map { $0 + 1 })
  }
}
