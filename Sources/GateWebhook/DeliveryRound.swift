import FoundationEssentials
import GateCore

/// One call of the postman: what time is left, what is known of the webhooks, and what is to be reported.
struct DeliveryRound: ~Copyable {
  /// How long a letter is kept that belongs to no webhook of the project file.
  private static let patience: TimeInterval = 30 * 24 * 3600

  private let courier: Courier
  private let policy: DeliveryPolicy
  private let labels: WebhookLabels
  private let deadline: ContinuousClock.Instant
  /// Keys of webhooks that did not answer, or refused us, in this round.
  private var deadKeys: Set<String> = []
  private(set) var reports: [DeliveryReport] = []

  init(courier: consuming Courier, policy: DeliveryPolicy, labels: WebhookLabels) {
    self.courier = courier
    self.policy = policy
    self.labels = labels
    deadline = ContinuousClock.now + policy.totalBudget
  }

  /// An equal part of the time until the end, where so many are still to have their turn.
  private func turn(of count: Int, until end: ContinuousClock.Instant) -> ContinuousClock.Instant {
    let now = ContinuousClock.now
    return now + max(.zero, now.duration(to: end)) / max(1, count)
  }

  // MARK: New messages

  /// Delivers a message whose file, where it could be written, is removed after that.
  mutating func deliver(
    _ message: OutgoingMessage,
    keptAs file: Result<String, OutboxError>,
    in outbox: Outbox?,
    turnsLeft: Int
  ) {
    let attempts = deadKeys.contains(message.webhook.key) ? 1 : policy.attempts
    let outcome: DeliveryReport.Outcome
    do {
      let taken = try courier.deliver(message, attempts: attempts, until: turn(of: turnsLeft, until: deadline))
      if case .success(let name) = file { outbox?.remove(name) }
      outcome = .delivered(attempts: taken)
    } catch {
      switch file {
      case .success: outcome = .stored(problem: error.problem)
      case .failure(let fault): outcome = .lost(problem: "\(error.problem); and it could not be kept: \(fault.problem)")
      }
    }
    report(labels[message.webhook], outcome, message.deliveryID, wasFromOutbox: false)
  }

  // MARK: Older messages

  /// Delivers what earlier runs have left, one webhook after the other.
  mutating func deliver(_ stock: Outbox.Stock, of outbox: Outbox, to webhooks: [Webhook], beforeNew: Bool) {
    for name in stock.broken {
      let shown = FileName.component(for: name)
      let problem = "`\(shown)` holds no message; it was set aside as `\(shown).broken`"
      report("outbox", .stored(problem: problem), shown, wasFromOutbox: true)
    }
    let now = ContinuousClock.now
    let end = beforeNew ? now + now.duration(to: deadline) * policy.outboxShare : deadline
    let groups = Dictionary(grouping: stock.entries, by: \.letter.webhook)
    let known = webhooks.filter { groups[$0.key] != nil }
    // Two webhooks of one URL have one key: the first of them gets the letters.
    let keys = known.map(\.key).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    for (index, key) in keys.enumerated() {
      guard let webhook = known.first(where: { $0.key == key }), let entries = groups[key] else { continue }
      deliver(entries, of: outbox, to: webhook, until: turn(of: keys.count - index, until: end))
    }
    for entry in stock.entries where !keys.contains(entry.letter.webhook) {
      keepUnclaimed(entry, in: outbox)
    }
  }

  /// Delivers the letters of one webhook, the first that fails with retries, those after it with one attempt each.
  private mutating func deliver(
    _ entries: [Outbox.Entry],
    of outbox: Outbox,
    to webhook: Webhook,
    until end: ContinuousClock.Instant
  ) {
    var attempts = policy.attempts
    for (index, entry) in entries.enumerated() {
      guard !deadKeys.contains(webhook.key), ContinuousClock.now < end else {
        reportUntried(entries[index...], of: webhook)
        return
      }
      let outcome: DeliveryReport.Outcome
      do {
        outcome = .delivered(
          attempts: try courier.deliver(entry.letter.message(to: webhook), attempts: attempts, until: end))
        outbox.remove(entry.name)
      } catch {
        outcome = .stored(problem: error.problem)
        if error.isWorthRetrying { attempts = 1 }
        if error.concernsWebhook { deadKeys.insert(webhook.key) }
      }
      report(labels[webhook], outcome, entry.letter.deliveryID, wasFromOutbox: true)
    }
  }

  private mutating func reportUntried(_ entries: ArraySlice<Outbox.Entry>, of webhook: Webhook) {
    guard let first = entries.first else { return }
    let problem = entries.count == 1 ? "1 more message waits" : "\(entries.count) more messages wait"
    report(labels[webhook], .stored(problem: problem), first.letter.deliveryID, wasFromOutbox: true)
  }

  /// Keeps a letter for which there is no webhook, and tells so in the first run that finds it and when it is over.
  private mutating func keepUnclaimed(_ entry: Outbox.Entry, in outbox: Outbox) {
    let problem = "it belongs to no webhook of the project file"
    if Date.now.timeIntervalSince(entry.letter.createdAt) > Self.patience {
      outbox.remove(entry.name)
      report(
        "outbox", .lost(problem: "\(problem), and waited for 30 days"), entry.letter.deliveryID, wasFromOutbox: true)
    } else if !entry.isKnownUnclaimed {
      outbox.markUnclaimed(entry)
      report("outbox", .stored(problem: problem), entry.letter.deliveryID, wasFromOutbox: true)
    }
  }

  private mutating func report(
    _ label: String,
    _ outcome: DeliveryReport.Outcome,
    _ deliveryID: String,
    wasFromOutbox: Bool
  ) {
    reports.append(
      DeliveryReport(label: label, outcome: outcome, deliveryID: deliveryID, wasFromOutbox: wasFromOutbox)
    )
  }
}
