/// The outcome for one webhook message, new or queued by an earlier run.
package struct DeliveryReport: Sendable, Equatable {
  /// Nil if the project file has no webhook for the message.
  package var webhook: WebhookLabel?
  package var deliveryID: String
  /// Whether an earlier run left the message in the outbox.
  package var wasQueued: Bool
  package var outcome: DeliveryOutcome

  package init(webhook: WebhookLabel?, deliveryID: String, wasQueued: Bool, outcome: DeliveryOutcome) {
    self.webhook = webhook
    self.deliveryID = deliveryID
    self.wasQueued = wasQueued
    self.outcome = outcome
  }

  package var isDelivered: Bool {
    if case .delivered = outcome { true } else { false }
  }
}

/// The result of one delivery.
package enum DeliveryOutcome: Sendable, Equatable {
  /// The server accepted the message at this attempt, counted from 1.
  case delivered(attempts: Int)
  /// The message is in the outbox; the next run tries again.
  case queued(DeliveryError, attempts: Int)
  /// The server refused the message for good; it stays in the outbox as this file, and is not sent again.
  case rejected(DeliveryError, attempts: Int, file: String)
  /// The message was neither delivered nor stored.
  case lost(DeliveryError, attempts: Int, OutboxError)
  /// Messages in the outbox that this run did not try, because the webhook failed or the time was used up.
  case postponed(count: Int)
  /// A message in the outbox belongs to no webhook of the project file; it is kept for 30 days.
  case withoutWebhook
  /// A message in the outbox was deleted, as it had waited for 30 days.
  case expired
  /// A file in the outbox is not a message; it was renamed to `NAME.broken`.
  case malformed(file: String)
  /// A message in the outbox that may not be one of an earlier run: it is not sent, and was renamed to `NAME.broken`.
  case unproven(file: String, MessageDoubt)
}

/// Why a message in the outbox may not be one that an earlier run could not deliver.
package enum MessageDoubt: Error, Sendable, CaseIterable {
  /// No run of the project with the webhook's secret has written it.
  case noProof
  /// Git tracks the file, so a commit may have put it there.
  case tracked
  /// It is a copy of one that was sent.
  case sentBefore
}

/// Why a webhook did not accept a message.
package enum DeliveryError: Error, Sendable, Equatable {
  /// The server answered with an HTTP status other than 2xx.
  case status(Int)
  /// No connection, or no complete answer. The HTTP client's description, without credentials, path or query.
  case noAnswer(String)
  /// An error that a retry cannot change, such as an invalid URL or an untrusted certificate. The HTTP client's
  /// description.
  case requestFailed(String)
  case interrupted
}

/// Why the outbox could not store a message.
package enum OutboxError: Error, Sendable, Equatable {
  case cannotCreate(folder: String, errno: Int32)
  case cannotOpen(folder: String, errno: Int32)
  case cannotWrite(errno: Int32)
  case full(count: Int)
  case messageTooLarge
  case invalidName
}

/// A webhook as messages name it: by its host, never by the path or the credentials of its URL.
package struct WebhookLabel: Sendable, Equatable {
  /// Nil if the URL cannot be parsed.
  package var host: String?
  /// The position in the project file, counted from 1; nil if no other webhook has the same host.
  package var position: Int?

  package init(host: String?, position: Int?) {
    self.host = host
    self.position = position
  }
}
