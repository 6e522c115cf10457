import Digests
import FoundationEssentials
import GateCore
import HTTPTransfer
import LinuxSystem

private import Glibc

/// What can be said of a message that was not delivered.
struct Refusal: Error, Equatable {
  /// What a retry could change.
  enum Kind {
    /// Nothing at all answered, or the server asked for patience: no message of this webhook will get through now.
    case unreachable
    /// The server failed; it may do so because of this message.
    case failing
    /// The server understood, and does not want this message.
    case unwanted
    /// The address or the permission is wrong, whatever the message.
    case closed
    case interrupted
  }

  let kind: Kind
  let problem: String
  /// What the server asked for.
  var retryAfter: Duration?

  var isWorthRetrying: Bool {
    kind == .unreachable || kind == .failing
  }

  /// Whether other messages for the same webhook would fare alike.
  var concernsWebhook: Bool {
    kind == .unreachable || kind == .closed || kind == .interrupted
  }
}

/// Carries one message to its webhook, with retries.
struct Courier: ~Copyable {
  private let session: HTTPSession
  private let policy: DeliveryPolicy
  private let interruption: Interruption

  init(policy: DeliveryPolicy, trust: HTTPTrust, interruption: Interruption) {
    session = HTTPSession(trust: trust)
    self.policy = policy
    self.interruption = interruption
  }

  /// Tries until it is delivered, a retry would change nothing, or the time is over.
  ///
  /// A server that asks for more patience than there is time is not asked again.
  ///
  /// - Returns: how many attempts it took.
  func deliver(_ message: OutgoingMessage, attempts: Int, until deadline: ContinuousClock.Instant) throws(Refusal)
    -> Int
  {
    for attempt in 1...max(1, attempts) {
      do {
        try send(message, until: deadline)
        return attempt
      } catch {
        let pause = policy.pause(after: attempt, asked: error.retryAfter)
        guard error.isWorthRetrying, attempt < attempts, ContinuousClock.now + pause < deadline else {
          throw error.counted(attempt)
        }
        try sleep(for: pause)
      }
    }
    preconditionFailure("the last attempt ends the loop: it is not smaller than the number of attempts")
  }

  private func send(_ message: OutgoingMessage, until deadline: ContinuousClock.Instant) throws(Refusal) {
    try checkInterruption()
    var request = HTTPRequest(url: message.webhook.url.exposed, method: "POST", body: message.body)
    request.headers = message.headers(at: Date.now)
    request.connectTimeout = policy.connectTimeout
    request.totalTimeout = min(policy.attemptTimeout, ContinuousClock.now.duration(to: deadline))
    request.maximumAnswer = 4096
    let answer: HTTPAnswer
    do {
      let interruption = interruption
      answer = try session.send(request) { interruption.signal != nil }
    } catch {
      throw Refusal(error)
    }
    if let refusal = Refusal(status: answer.status, retryAfter: answer.retryAfter) { throw refusal }
  }

  private func checkInterruption() throws(Refusal) {
    guard interruption.signal == nil else {
      throw Refusal(kind: .interrupted, problem: "the run was interrupted")
    }
  }

  /// Sleeps in short stretches, so that an interruption is soon seen.
  private func sleep(for pause: Duration) throws(Refusal) {
    let end = ContinuousClock.now + pause
    while ContinuousClock.now < end {
      try checkInterruption()
      let stretch = min(ContinuousClock.now.duration(to: end), .milliseconds(50))
      usleep(UInt32(clamping: max(0, stretch.nanoseconds) / 1000 + 1))
    }
    try checkInterruption()
  }
}

extension Refusal {
  init(_ failure: HTTPFailure) {
    let kind: Kind =
      switch failure.code {
      case .refused, .unresolved, .timedOut, .connectionLost: .unreachable
      case .badURL, .unsupportedScheme, .untrusted, .other: .closed
      case .cancelled: .interrupted
      }
    self.init(kind: kind, problem: kind == .interrupted ? "the run was interrupted" : failure.problem)
  }

  /// Nil where the status says that the message was taken.
  init?(status: Int, retryAfter: Duration?) {
    switch status {
    case 200..<300: return nil
    case 300..<400:
      self.init(kind: .closed, problem: "it answered \(status), a redirect, and redirects are not followed")
    case 408: self.init(kind: .failing, problem: "it answered 408", retryAfter: retryAfter)
    case 429: self.init(kind: .unreachable, problem: "it answered 429, too many requests", retryAfter: retryAfter)
    case 500...: self.init(kind: .failing, problem: "it answered \(status)", retryAfter: retryAfter)
    case 400, 413, 414, 415, 422: self.init(kind: .unwanted, problem: "it answered \(status)")
    default: self.init(kind: .closed, problem: "it answered \(status)")
    }
  }

  fileprivate func counted(_ attempts: Int) -> Refusal {
    attempts < 2
      ? self : Refusal(kind: kind, problem: "\(problem) (after \(attempts) attempts)", retryAfter: retryAfter)
  }
}

extension OutgoingMessage {
  /// The headers of the webhook; the signature is made for the time of this attempt.
  func headers(at time: Date) -> [(name: String, value: String)] {
    let unsigned = [
      (name: "Content-Type", value: "application/json"),
      (name: "User-Agent", value: "\(Tool.name)/\(Tool.version)"),
      (name: "X-Highwater-Event", value: event),
      (name: "X-Highwater-Delivery", value: deliveryID),
    ]
    guard let secret = webhook.secret else { return unsigned }
    let timestamp = "\(Int64(time.timeIntervalSince1970))"
    let signed = Array("\(timestamp).".utf8) + body
    let signature = SHA256.authentication(of: signed, key: Array(secret.exposed.utf8))
    let digits = signature.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    return unsigned + [
      (name: "X-Highwater-Timestamp", value: timestamp),
      (name: "X-Highwater-Signature-256", value: "sha256=\(digits)"),
    ]
  }
}
