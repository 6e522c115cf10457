import Foundation
import GateCore
import Glibc
import HTTPTransfer
import LinuxSystem
import LoopbackServers
import Testing

@testable import GateApplication

@Suite("Delivering messages")
struct WebhookSenderTests {
  @Test("A message is sent with its headers, and no file is left")
  func delivered() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url("/echo"))
    let reports = fixtures.deliver([OutgoingMessage(to: webhook, id: "id-1", "{\"a\":\"ü\"}")], to: [webhook])
    let visit = try #require(try server.visits(1).first)
    #expect(
      reports == [
        DeliveryReport(
          webhook: WebhookLabel(host: "127.0.0.1", position: nil), deliveryID: "id-1", wasQueued: false,
          outcome: .delivered(attempts: 1))
      ]
    )
    #expect(visit.method == "POST")
    #expect(visit.body == Data("{\"a\":\"ü\"}".utf8))
    #expect(visit.headers["content-type"] == "application/json")
    #expect(visit.headers["user-agent"] == "highwater/\(Tool.version)")
    #expect(visit.headers["x-highwater-event"] == "check")
    #expect(visit.headers["webhook-id"] == "id-1")
    #expect(visit.headers["webhook-signature"] == nil)
    #expect(try fixtures.files().isEmpty)
  }

  @Test("The default ID is a UUID")
  func generatedID() {
    #expect(UUID(uuidString: OutgoingMessage(webhook: Webhook("http://h/"), body: []).deliveryID) != nil)
  }

  @Test(
    "With a secret the message is signed, and the verifier of Standard Webhooks accepts it and no other",
    arguments: ["grüße 123", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_aGVsbG8"])
  func signed(secret: String) throws {
    let (server, fixtures) = (try LoopbackServer(secret: secret), try WebhookFixtures())
    let webhook = Webhook(server.url("/echo"), secret: secret)
    let other = Webhook(server.url("/status/200"), named: "other", secret: "wrong")
    _ = fixtures.deliver([OutgoingMessage(to: webhook, id: "a"), OutgoingMessage(to: other, id: "b")], to: [])
    let visits = try server.visits(2)
    #expect(visits.map(\.signatureIsValid) == [true, false])
    let timestamp = try #require(visits[0].headers["webhook-timestamp"].flatMap(Double.init))
    #expect(abs(timestamp - Date().timeIntervalSince1970) < 300)
  }

  @Test("It is sent over TLS if the certificate authority is trusted")
  func overTLS() throws {
    let certificates = try Certificates()
    let server = try LoopbackServer(certificate: certificates.identity(for: "DNS:localhost"))
    var fixtures = try WebhookFixtures()
    let webhook = Webhook(server.url("/echo", scheme: "https", host: "localhost"))
    let message = OutgoingMessage(to: webhook, id: "a")
    guard case .queued(.requestFailed(let problem), 1)? = fixtures.deliver([message], to: []).first?.outcome else {
      Issue.record("an untrusted server got the message")
      return
    }
    #expect(problem.contains("is not trusted"))
    fixtures.trust = HTTPTrust(file: certificates.authority)
    #expect(fixtures.deliver([], to: [webhook]).map(\.outcome) == [.delivered(attempts: 1)])
  }

  @Test("After a server error the message is sent again with the same ID", arguments: [500, 503, 408, 429])
  func retried(status: Int) throws {
    let (server, fixtures) = (try LoopbackServer(secret: "s"), try WebhookFixtures())
    let webhook = Webhook(server.url("/flaky/2/\(status)"), secret: "s")
    #expect(
      fixtures.deliver([OutgoingMessage(to: webhook, id: "same")], to: []).map(\.outcome) == [.delivered(attempts: 3)]
    )
    let visits = try server.visits(3)
    #expect(visits.map(\.status) == [status, status, 200])
    #expect(visits.map { $0.headers["webhook-id"] } == ["same", "same", "same"])
    #expect(visits.map(\.signatureIsValid) == [true, true, true])
  }

  @Test("After a lost connection the message is sent again, up to five times")
  func retriedConnection() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url("/nothing"))
    let report = try #require(fixtures.deliver([OutgoingMessage(to: webhook, id: "a")], to: []).first)
    let problem = "127.0.0.1:\(server.port) closed the connection before the response was complete"
    #expect(report.outcome == .queued(.noAnswer(problem), attempts: 5))
    // libcurl itself retries if a reused connection was closed, so there are at least five requests.
    #expect(Set(try server.visits(5).map { $0.headers["webhook-id"] }) == ["a"])
  }

  @Test("The sender waits as long as Retry-After asks")
  func retryAfter() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url("/busy/1/20"))
    let start = fixtures.clock.now
    #expect(
      fixtures.deliver([OutgoingMessage(to: webhook, id: "a")], to: []).map(\.outcome) == [.delivered(attempts: 2)])
    #expect(fixtures.clock.now - start >= .seconds(20))
  }

  @Test("A message is not sent again if Retry-After exceeds the remaining time")
  func retryAfterTooLong() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url("/busy/9/3600"))
    let report = try #require(fixtures.deliver([OutgoingMessage(to: webhook, id: "a")], to: []).first)
    #expect(report.outcome == .queued(.status(429), attempts: 1))
    #expect(try server.visits(1).count == 1)
  }

  @Test("A message that the server rejects is sent once and set aside", arguments: [400, 401, 404, 410, 302])
  func rejected(status: Int) throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url(status == 302 ? "/redirect" : "/status/\(status)"))
    let reports = fixtures.deliver([OutgoingMessage(to: webhook, id: "a")], to: [webhook])
    let file = try #require(try fixtures.files().first)
    #expect(file.hasSuffix("-a.json.rejected"))
    #expect(reports.map(\.outcome) == [.rejected(.status(status), attempts: 1, file: file)])
    #expect(fixtures.deliver([], to: [webhook]).isEmpty)
    #expect(try server.visits(1).map(\.status) == [status])
    #expect(try fixtures.files() == [file])
  }

  @Test("Each attempt to a silent server ends with its timeout")
  func silent() throws {
    var fixtures = try WebhookFixtures()
    let server = try LoopbackServer()
    fixtures.policy.attemptTimeout = .milliseconds(200)
    fixtures.policy.attempts = 2
    let report = try #require(
      fixtures.deliver([OutgoingMessage(to: Webhook(server.url("/silent")), id: "a")], to: []).first
    )
    #expect(report.outcome == .queued(.noAnswer("127.0.0.1:\(server.port) did not respond in time"), attempts: 2))
  }

  @Test("A response of 1 GB is a success")
  func huge() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let reports = fixtures.deliver([OutgoingMessage(to: Webhook(server.url("/huge")), id: "a")], to: [])
    #expect(reports.map(\.outcome) == [.delivered(attempts: 1)])
    #expect(try #require(try server.visits(1).first).sent < 64_000_000)
  }

  @Test("A message to an unresolvable host is queued")
  func unresolved() throws {
    let fixtures = try WebhookFixtures()
    let reports = fixtures.deliver([OutgoingMessage(to: Webhook("http://nothing.invalid/x"), id: "a")], to: [])
    #expect(reports.map(\.webhook) == [WebhookLabel(host: "nothing.invalid", position: nil)])
    #expect(reports.map(\.outcome) == [.queued(.noAnswer("cannot resolve the host `nothing.invalid`"), attempts: 5)])
  }

  @Test("A slow webhook does not use up the next message's time")
  func timePerMessage() throws {
    var fixtures = try WebhookFixtures()
    let server = try LoopbackServer()
    fixtures.policy.totalTimeout = .seconds(60)
    // The half of the time is enough for three attempts, and all of it for five.
    let (slow, good) = (Webhook(server.url("/busy/99/12"), named: "slow"), Webhook(server.url("/echo"), named: "good"))
    let first = fixtures.deliver(
      [OutgoingMessage(to: slow, id: "a"), OutgoingMessage(to: good, id: "b")], to: [slow, good])
    #expect(first.map(\.outcome) == [.queued(.status(429), attempts: 3), .delivered(attempts: 1)])
    let second = fixtures.deliver([OutgoingMessage(to: good, id: "c")], to: [slow, good])
    #expect(second.map(\.wasQueued) == [true, false])
    #expect(second.map(\.isQueued) == [true, false])
  }

  @Test("An attempt to a silent server ends with the message's time")
  func silentForAllTheTime() throws {
    var fixtures = try WebhookFixtures()
    let server = try LoopbackServer()
    fixtures.policy.totalTimeout = .seconds(1)
    let report = try #require(
      fixtures.deliver([OutgoingMessage(to: Webhook(server.url("/silent")), id: "a")], to: []).first)
    #expect(report.outcome == .queued(.noAnswer("127.0.0.1:\(server.port) did not respond in time"), attempts: 1))
  }

  @Test("After an interruption nothing is sent, and all messages are queued")
  func interrupted() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url("/echo"))
    fixtures.interruption.request(by: SIGTERM)
    let reports = fixtures.deliver(["a", "b"].map { OutgoingMessage(to: webhook, id: $0) }, to: [webhook])
    #expect(reports.map(\.outcome) == Array(repeating: .queued(.interrupted, attempts: 1), count: 2))
    #expect(try server.readLog().isEmpty)
    #expect(try fixtures.files().count == 2)
  }

  @Test("An interruption ends an attempt that waits for its response")
  func interruptedWhileWaiting() throws {
    var fixtures = try WebhookFixtures()
    let server = try LoopbackServer()
    fixtures.policy.attemptTimeout = .seconds(50)
    let interruption = fixtures.interruption
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      interruption.request(by: SIGINT)
    }
    let reports = fixtures.deliver([OutgoingMessage(to: Webhook(server.url("/silent")), id: "a")], to: [])
    #expect(reports.map(\.outcome) == [.queued(.interrupted, attempts: 1)])
  }

  @Test("Credentials, path, query and secret reach the server, but no report or file")
  func secrets() throws {
    let (server, fixtures) = (try LoopbackServer(secret: "hush-secret"), try WebhookFixtures())
    let url = "http://user:hush-password@127.0.0.1:\(server.port)/status/500?token=hush-token"
    let webhook = Webhook(url, secret: "hush-secret")
    let reports = fixtures.deliver([OutgoingMessage(to: webhook, id: "a")], to: [webhook])
    let visit = try #require(try server.visits(5).first)
    #expect(visit.headers["authorization"] == "Basic " + Data("user:hush-password".utf8).base64EncodedString())
    #expect(visit.path == "/status/500?token=hush-token")
    var dumped = ""
    dump(reports, to: &dumped)
    dump(OutgoingMessage(to: webhook, id: "a"), to: &dumped)
    for text in try fixtures.files().map(fixtures.text) + [dumped] {
      #expect(!text.contains("hush") && !text.contains("status/500"))
    }
    #expect(try fixtures.files().count == 1)
  }

  @Test("Webhooks of one host, or with an invalid URL, are distinguished by position")
  func labels() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhooks = [
      Webhook(server.url("/echo"), named: "a"), Webhook("hush no URL", named: "b"),
      Webhook(server.url("/status/200"), named: "c"), Webhook(server.url("/echo", host: "localhost"), named: "d"),
    ]
    let reports = fixtures.deliver(webhooks.map { OutgoingMessage(webhook: $0, body: []) }, to: webhooks)
    let expected: [(String?, Int?)] = [("127.0.0.1", 1), (nil, 2), ("127.0.0.1", 3), ("localhost", nil)]
    #expect(reports.map(\.webhook) == expected.map { WebhookLabel(host: $0, position: $1) })
    #expect(reports.map(\.isQueued) == [false, true, false, false])
  }
}
