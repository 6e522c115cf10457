import LinuxSystem
import Digests
import FoundationEssentials
import GateCore
import HTTPTransfer

private import Glibc

/// An attempt that failed.
struct FailedAttempt: Error {
  let reason: DeliveryError
  /// Counted from 1.
  var number = 1
  /// From the server's `Retry-After` header.
  var retryAfter: Duration?
}

/// The clock by which deliveries wait; tests have one that does not.
struct DeliveryClock: Sendable {
  var now: @Sendable () -> ContinuousClock.Instant = { .now }
  var sleep: @Sendable (Duration) -> Void = { usleep(UInt32(clamping: max(0, $0.nanoseconds) / 1000 + 1)) }
}

/// Sends one message at a time over HTTP, with retries.
struct DeliveryAttempts: ~Copyable {
  private let session: HTTPSession
  private let policy: DeliveryPolicy
  private let clock: DeliveryClock
  private let interruption: Interruption

  init(policy: DeliveryPolicy, trust: HTTPTrust, clock: DeliveryClock, interruption: Interruption) {
    session = HTTPSession(trust: trust)
    self.policy = policy
    self.clock = clock
    self.interruption = interruption
  }

  /// Tries until the server accepts the message, an error cannot be retried, or no time is left for the next pause.
  ///
  /// - Returns: The number of attempts.
  /// - Throws: The last attempt.
  func send(
    _ message: OutgoingMessage,
    atMost limit: Int,
    until deadline: ContinuousClock.Instant
  ) throws(FailedAttempt) -> Int {
    var number = 1
    while true {
      do {
        try sendOnce(message, until: deadline)
        return number
      } catch {
        let pause = policy.pause(after: number, retryAfter: error.retryAfter)
        guard error.reason.isRetryable, number < limit, clock.now() + pause < deadline else {
          throw FailedAttempt(reason: error.reason, number: number)
        }
        try sleep(for: pause)
        number += 1
      }
    }
  }

  private func sendOnce(_ message: OutgoingMessage, until deadline: ContinuousClock.Instant) throws(FailedAttempt) {
    try checkInterruption()
    var request = HTTPRequest(url: message.webhook.url.exposed, method: "POST", body: message.body)
    request.headers = message.headers(at: Date.now.inFileYears)
    request.connectTimeout = policy.connectTimeout
    request.totalTimeout = min(policy.attemptTimeout, clock.now().duration(to: deadline))
    request.maximumResponseSize = 4096
    let response: HTTPResponse
    do {
      let interruption = interruption
      response = try session.send(request) { interruption.signal != nil }
    } catch {
      throw FailedAttempt(reason: DeliveryError(error))
    }
    guard 200..<300 ~= response.status else {
      throw FailedAttempt(reason: .status(response.status), retryAfter: response.retryAfter)
    }
  }

  private func checkInterruption() throws(FailedAttempt) {
    guard interruption.signal == nil else { throw FailedAttempt(reason: .interrupted) }
  }

  /// Sleeps in steps of 50 ms, so that an interruption ends it.
  private func sleep(for pause: Duration) throws(FailedAttempt) {
    let end = clock.now() + pause
    while clock.now() < end {
      try checkInterruption()
      clock.sleep(min(clock.now().duration(to: end), .milliseconds(50)))
    }
    try checkInterruption()
  }
}

extension DeliveryError {
  fileprivate init(_ failure: HTTPFailure) {
    self =
      switch failure.code {
      case .refused, .unresolved, .timedOut, .connectionLost: .noAnswer(failure.problem)
      case .badURL, .unsupportedScheme, .untrusted, .other: .requestFailed(failure.problem)
      case .cancelled: .interrupted
      }
  }

  /// Whether the same message may be accepted later.
  var isRetryable: Bool {
    switch self {
    case .noAnswer, .status(408), .status(429), .status(500...): true
    case .status, .requestFailed, .interrupted: false
    }
  }

  /// Whether the server answered that it will not accept this message.
  var isRejection: Bool {
    if case .status = self { !isRetryable } else { false }
  }

  /// Whether other messages for the same webhook would fail in the same way.
  var affectsAllMessages: Bool {
    switch self {
    // The server could not process this message; it may accept the next one.
    case .status(400), .status(408), .status(413), .status(414), .status(415), .status(422), .status(500...): false
    case .status, .noAnswer, .requestFailed, .interrupted: true
    }
  }
}

extension OutgoingMessage {
  /// The headers of the request, with those of Standard Webhooks 1.0; the signature includes the time of this attempt.
  fileprivate func headers(at time: Date) -> [(name: String, value: String)] {
    let timestamp = "\(Int64(time.timeIntervalSince1970))"
    let unsigned = [
      (name: "Content-Type", value: webhook.format.mediaType),
      (name: "User-Agent", value: "\(Tool.name)/\(Tool.version)"),
      (name: "X-Highwater-Event", value: event),
      (name: "webhook-id", value: deliveryID),
      (name: "webhook-timestamp", value: timestamp),
    ]
    guard let secret = webhook.secret else { return unsigned }
    let signed = Array("\(deliveryID).\(timestamp).".utf8) + body
    let signature = Data(SHA256.authentication(of: signed, key: secret.key)).base64EncodedString()
    return unsigned + [(name: "webhook-signature", value: "v1,\(signature)")]
  }
}
