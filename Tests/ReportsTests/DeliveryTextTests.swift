import GateCore
import Testing

@testable import GateApplication

@Suite("Warnings about webhooks")
struct DeliveryTextTests {
  private static let host = WebhookLabel(host: "example.org", position: nil)

  private func warning(_ outcome: DeliveryOutcome, wasQueued: Bool = false, to webhook: WebhookLabel? = host) -> String?
  {
    DeliveryReport(webhook: webhook, deliveryID: "id", wasQueued: wasQueued, outcome: outcome).warning?.description
  }

  @Test("A delivered message needs no warning")
  func delivered() {
    #expect(warning(.delivered(attempts: 3)) == nil)
  }

  @Test(
    "A warning names the webhook, the cause and the number of attempts",
    arguments: [
      (.status(500), 5, "the server answered 500 (after 5 attempts)", nil),
      (.status(429), 1, "the server answered 429 (too many requests)", nil),
      (
        .status(302), 1, "the server answered 302, and redirects are not followed",
        "use the URL that the server redirects to"
      ),
      (.status(404), 1, "the server answered 404", "check the URL of the webhook"),
      (.noAnswer("cannot resolve the host `example.org`"), 1, "cannot resolve the host `example.org`", nil),
      (.interrupted, 1, "the run was interrupted", nil),
    ] as [(DeliveryError, Int, String, String?)]
  )
  func queued(error: DeliveryError, attempts: Int, cause: String, hint: String?) {
    let problem = "message to example.org not delivered: \(cause); it is in the outbox"
    #expect(warning(.queued(error, attempts: attempts)) == "error: \(problem)" + (hint.map { "\n  hint: \($0)" } ?? ""))
    #expect(warning(.queued(error, attempts: attempts), wasQueued: true)?.hasPrefix("error: queued \(problem)") == true)
  }

  @Test("A refused message names its file, and how to send it again")
  func rejected() {
    let rejected = DeliveryOutcome.rejected(.status(404), attempts: 1, file: "1-a.json.rejected")
    #expect(
      warning(rejected, wasQueued: true) == """
        error: queued message to example.org refused: the server answered 404; it is not sent again
          hint: check the URL of the webhook; it is kept in the outbox as `1-a.json.rejected`: to resend it, remove the \
        `.rejected` suffix
        """)
  }

  @Test(
    "A lost message names both causes",
    arguments: [
      (.cannotCreate(folder: "/x", errno: 20), "cannot create `/x`: not a directory"),
      (.cannotOpen(folder: "/x", errno: 40), "cannot open `/x`: too many levels of symbolic links"),
      (.cannotWrite(errno: 28), "cannot write to the outbox: no space left on device"),
      (.messageTooLarge, "the message is larger than 8 MiB"),
      (.invalidName, "its event or id is not a plain name"),
      (
        .full(count: 1000),
        """
        the outbox is full (1000 messages)
          hint: fix or remove the webhook that does not answer, or delete the files in the outbox
        """
      ),
    ] as [(OutboxError, String)]
  )
  func lost(storing: OutboxError, cause: String) {
    let problem = "error: message to example.org lost: the server answered 400; cannot queue it: "
    #expect(warning(.lost(.status(400), attempts: 1, storing)) == problem + cause)
  }

  @Test(
    "Unsent files in the outbox are reported",
    arguments: [
      (.postponed(count: 1), "1 queued message to example.org not sent in this run"),
      (.postponed(count: 2), "2 queued messages to example.org not sent in this run"),
      (.withoutWebhook, "a queued message matches no webhook in the project file; it is kept for 30 days"),
      (.expired, "a queued message was deleted: it could not be delivered for 30 days"),
      (.malformed(file: "a"), "the outbox file `a` is not a message; it was renamed to `a.broken`"),
      (
        .unproven(file: "a", .noProof),
        """
        queued message to example.org not sent: no run of this project with this webhook's secret wrote the outbox file \
        `a`; it was renamed to `a.broken`
          hint: after a change of the webhook's secret or URL, or of the project's name, this is expected; otherwise find \
        out who wrote the file
        """
      ),
      (
        .unproven(file: "a", .tracked),
        """
        queued message to example.org not sent: git tracks the outbox file `a`, so a commit may have put it there; it was \
        renamed to `a.broken`
          hint: remove it from the repository (`git rm --cached`)
        """
      ),
      (
        .unproven(file: "a", .sentBefore),
        """
        queued message to example.org not sent: the outbox file `a` is a copy of a message that was sent already; it was \
        renamed to `a.broken`
          hint: find out who wrote the file
        """
      ),
    ] as [(DeliveryOutcome, String)]
  )
  func outbox(outcome: DeliveryOutcome, problem: String) {
    #expect(warning(outcome, wasQueued: true) == "error: \(problem)")
  }

  @Test("A webhook is named by its host, its position or both")
  func labels() {
    func name(_ host: String?, _ position: Int?) -> String? {
      warning(.postponed(count: 1), to: WebhookLabel(host: host, position: position))
    }
    #expect(name("h", 2) == "error: 1 queued message to h (webhook 2) not sent in this run")
    #expect(name(nil, 2) == "error: 1 queued message to webhook 2 not sent in this run")
  }
}
