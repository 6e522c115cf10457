import FoundationEssentials
package import GateCore
package import HTTPTransfer
package import LinuxSystem

/// Delivers messages to webhooks, and keeps in a folder what could not be delivered.
///
/// Each new message is written to the outbox before its first attempt and removed after its delivery, so that it also
/// outlives a run that is killed in between.
///
/// The budget is shared so that a dead webhook cannot eat what others need: older messages have at most
/// `outboxShare` of it while there are new ones, divided equally among their webhooks; new messages divide what is
/// left, each at its turn. What one does not use goes to the next. A webhook that is not reachable, or is closed to
/// us, is asked for one of its older messages only, and its new ones then have one attempt.
package struct Postman: Sendable {
  private let folder: String
  private let policy: DeliveryPolicy
  private let trust: HTTPTrust
  private let interruption: Interruption

  /// Makes a postman; the folder is made when there is something to keep.
  package init(
    outbox folder: String,
    policy: DeliveryPolicy = DeliveryPolicy(),
    trust: HTTPTrust = .fromEnvironment,
    interruption: Interruption
  ) {
    self.folder = folder
    self.policy = policy
    self.trust = trust
    self.interruption = interruption
  }

  /// Delivers first what waits in the outbox, oldest first, and then the new messages.
  ///
  /// Takes about as long as the policy's budget at most; after an interruption it only stores what is left. While
  /// another process delivers from the same outbox, only the new messages are delivered.
  ///
  /// - Parameters:
  ///   - messages: what is new.
  ///   - webhooks: those of the project file, in its order.
  /// - Returns: a report of each message, the older ones first; the older messages of one webhook that had no
  ///   attempt have one in common.
  package func deliver(_ messages: [OutgoingMessage], webhooks: [Webhook]) -> [DeliveryReport] {
    let opened = openOutbox(isNeeded: !messages.isEmpty)
    let outbox = try? opened.get()
    let stock = outbox.flatMap { $0.claim() ? $0.takeStock() : nil } ?? Outbox.Stock()
    let files = messages.map { message in keep(message, in: opened) }
    var round = DeliveryRound(
      courier: Courier(policy: policy, trust: trust, interruption: interruption),
      policy: policy,
      labels: WebhookLabels(webhooks)
    )
    if let outbox {
      round.deliver(stock, of: outbox, to: webhooks, beforeNew: !messages.isEmpty)
    }
    for (index, message) in messages.enumerated() {
      round.deliver(message, keptAs: files[index], in: outbox, turnsLeft: messages.count - index)
    }
    return round.reports
  }

  /// An outbox that is not there is made only where it is needed.
  private func openOutbox(isNeeded: Bool) -> Result<Outbox, OutboxError> {
    Result { () throws(OutboxError) in
      isNeeded ? try Outbox(making: folder) : try Outbox(folder: folder)
    }
  }

  private func keep(_ message: OutgoingMessage, in opened: Result<Outbox, OutboxError>) -> Result<String, OutboxError> {
    opened.flatMap { outbox in
      Result { () throws(OutboxError) in try outbox.add(message, at: Date.now) }
    }
  }
}
