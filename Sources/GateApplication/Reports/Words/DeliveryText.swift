import FoundationEssentials
import GateCore
import LinuxSystem

extension DeliveryReport {
  /// The warning to print; nil for a delivered message.
  var warning: Diagnostic? {
    let label = webhook?.displayText ?? "an unknown webhook"
    let message = wasQueued ? "queued message to \(label)" : "message to \(label)"
    switch outcome {
    case .delivered: return nil
    case .queued(let error, let attempts):
      let problem = "\(message) not delivered: \(error.displayText(attempts: attempts)); it is in the outbox"
      return Diagnostic(problem: problem, hint: error.hint)
    case .rejected(let error, let attempts, let file):
      let problem = "\(message) refused: \(error.displayText(attempts: attempts)); it is not sent again"
      let remedy = "it is kept in the outbox as `\(file)`: to resend it, remove the `.rejected` suffix"
      return Diagnostic(problem: problem, hint: error.hint.map { "\($0); \(remedy)" } ?? remedy)
    case .lost(let error, let attempts, let storing):
      let problem = "\(message) lost: \(error.displayText(attempts: attempts)); cannot queue it: \(storing.displayText)"
      return Diagnostic(problem: problem, hint: storing.hint ?? error.hint)
    case .postponed(let count):
      return Diagnostic(problem: "\(count) queued message\(count == 1 ? "" : "s") to \(label) not sent in this run")
    case .withoutWebhook:
      return Diagnostic(problem: "a queued message matches no webhook in the project file; it is kept for 30 days")
    case .expired:
      return Diagnostic(
        problem: "a queued message was deleted: it could not be delivered for 30 days")
    case .malformed(let file):
      return Diagnostic(problem: "the outbox file `\(file)` is not a message; it was renamed to `\(file).broken`")
    case .unproven(let file, let doubt):
      return Diagnostic(
        problem: "\(message) not sent: \(doubt.displayText(file)); it was renamed to `\(file).broken`", hint: doubt.hint
      )
    }
  }
}

extension MessageDoubt {
  fileprivate func displayText(_ file: String) -> String {
    switch self {
    case .noProof: "no run of this project with this webhook's secret wrote the outbox file `\(file)`"
    case .tracked: "git tracks the outbox file `\(file)`, so a commit may have put it there"
    case .sentBefore: "the outbox file `\(file)` is a copy of a message that was sent already"
    }
  }

  fileprivate var hint: String {
    switch self {
    case .noProof:
      "after a change of the webhook's secret or URL, or of the project's name, this is expected; otherwise find out who "
        + "wrote the file"
    case .tracked: "remove it from the repository (`git rm --cached`)"
    case .sentBefore: "find out who wrote the file"
    }
  }
}

extension Webhook {
  /// Why the webhook gets no message in this run; nil if its variables are set.
  var omissionNote: String? {
    guard !unsetVariables.isEmpty else { return nil }
    let names = unsetVariables.map { "`\($0)`" }.joined(separator: ", ")
    let place = place.map { " of \($0)" } ?? ""
    return "the webhook\(place) gets no message: \(names) \(unsetVariables.count == 1 ? "is" : "are") not set"
  }
}

extension WebhookLabel {
  /// As in `example.org`, `example.org (webhook 2)` or `webhook 2`.
  fileprivate var displayText: String {
    let number = position.map { "webhook \($0)" }
    guard let host else { return number ?? "a webhook" }
    return number.map { "\(host) (\($0))" } ?? host
  }
}

extension DeliveryError {
  fileprivate func displayText(attempts: Int) -> String {
    let problem =
      switch self {
      case .status(let status) where 300..<400 ~= status:
        "the server answered \(status), and redirects are not followed"
      case .status(429): "the server answered 429 (too many requests)"
      case .status(let status): "the server answered \(status)"
      case .noAnswer(let problem), .requestFailed(let problem): problem
      case .interrupted: "the run was interrupted"
      }
    return attempts > 1 ? "\(problem) (after \(attempts) attempts)" : problem
  }

  fileprivate var hint: String? {
    switch self {
    case .status(let status) where 300..<400 ~= status: "use the URL that the server redirects to"
    case .status(401), .status(403), .status(404), .status(410): "check the URL of the webhook"
    default: nil
    }
  }
}

extension OutboxError {
  fileprivate var displayText: String {
    switch self {
    case .cannotCreate(let folder, let code): "cannot create `\(folder)`: \(ErrorNumber(code).text)"
    case .cannotOpen(let folder, let code): "cannot open `\(folder)`: \(ErrorNumber(code).text)"
    case .cannotWrite(let code): "cannot write to the outbox: \(ErrorNumber(code).text)"
    case .full(let count): "the outbox is full (\(count) messages)"
    case .messageTooLarge: "the message is larger than 8 MiB"
    case .invalidName: "its event or id is not a plain name"
    }
  }

  fileprivate var hint: String? {
    guard case .full = self else { return nil }
    return "fix or remove the webhook that does not answer, or delete the files in the outbox"
  }
}
