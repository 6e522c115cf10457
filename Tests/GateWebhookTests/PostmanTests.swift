import Foundation
import GateCore
import GateWebhook
import Glibc
import HTTPTransfer
import LinuxSystem
import LoopbackServers
import Testing

@Suite("Delivering messages")
struct PostmanTests {
  @Test("A message goes out with its headers, and leaves nothing behind")
  func delivered() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let webhook = Webhook(server.url("/echo"))
    let reports = office.deliver([OutgoingMessage(to: webhook, id: "id-1", "{\"a\":\"ü\"}")], to: [webhook])
    let visit = try #require(try server.visits(1).first)
    #expect(
      reports == [
        DeliveryReport(label: "127.0.0.1", outcome: .delivered(attempts: 1), deliveryID: "id-1", wasFromOutbox: false)
      ]
    )
    #expect(visit.method == "POST")
    #expect(visit.body == Data("{\"a\":\"ü\"}".utf8))
    #expect(visit.headers["content-type"] == "application/json")
    #expect(visit.headers["user-agent"] == "highwater/\(Tool.version)")
    #expect(visit.headers["x-highwater-event"] == "check")
    #expect(visit.headers["x-highwater-delivery"] == "id-1")
    #expect(visit.headers["x-highwater-signature-256"] == nil)
    #expect(try office.files().isEmpty)
  }

  @Test("An id that nobody gave is a UUID")
  func generatedID() {
    #expect(UUID(uuidString: OutgoingMessage(webhook: Webhook("http://h/"), body: []).deliveryID) != nil)
  }

  @Test("With a secret the body is signed so that another program finds the signature right")
  func signed() throws {
    let (server, office) = (try LoopbackServer(secret: "grüße 123"), try PostOffice())
    let webhook = Webhook(server.url("/echo"), secret: "grüße 123")
    let stranger = Webhook(server.url("/status/200"), named: "other", secret: "wrong")
    _ = office.deliver([OutgoingMessage(to: webhook, id: "a"), OutgoingMessage(to: stranger, id: "b")], to: [])
    let visits = try server.visits(2)
    #expect(visits.map(\.signatureIsValid) == [true, false])
    let timestamp = try #require(visits[0].headers["x-highwater-timestamp"].flatMap(Double.init))
    #expect(abs(timestamp - Date().timeIntervalSince1970) < 300)
  }

  @Test("It goes over TLS where an authority of our own is trusted")
  func overTLS() throws {
    let certificates = try Certificates()
    let server = try LoopbackServer(certificate: certificates.identity(for: "DNS:localhost"))
    var office = try PostOffice()
    let webhook = Webhook(server.url("/echo", scheme: "https", host: "localhost"))
    let message = OutgoingMessage(to: webhook, id: "a")
    #expect(office.deliver([message], to: []).first?.problem?.contains("is not trusted") == true)
    office.trust = HTTPTrust(file: certificates.authority)
    #expect(office.deliver([], to: [webhook]).map(\.outcome) == [.delivered(attempts: 1)])
  }

  @Test("A server that fails is asked again with the same id", arguments: [500, 503, 408, 429])
  func retried(status: Int) throws {
    let (server, office) = (try LoopbackServer(secret: "s"), try PostOffice())
    let webhook = Webhook(server.url("/flaky/2/\(status)"), secret: "s")
    #expect(
      office.deliver([OutgoingMessage(to: webhook, id: "same")], to: []).map(\.outcome) == [.delivered(attempts: 3)]
    )
    let visits = try server.visits(3)
    #expect(visits.map(\.status) == [status, status, 200])
    #expect(visits.map { $0.headers["x-highwater-delivery"] } == ["same", "same", "same"])
    #expect(visits.map(\.signatureIsValid) == [true, true, true])
  }

  @Test("A connection that is lost in the middle is tried again, five times in all")
  func retriedConnection() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let webhook = Webhook(server.url("/nothing"))
    let report = try #require(office.deliver([OutgoingMessage(to: webhook, id: "a")], to: []).first)
    #expect(report.isStored)
    #expect(report.problem?.hasSuffix("(after 5 attempts)") == true)
    // libcurl itself may ask once more where a kept connection was closed, so there are at least five.
    #expect(Set(try server.visits(5).map { $0.headers["x-highwater-delivery"] }) == ["a"])
  }

  @Test("Retry-After is waited for")
  func patience() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let webhook = Webhook(server.url("/busy/1/1"))
    let start = ContinuousClock.now
    #expect(office.deliver([OutgoingMessage(to: webhook, id: "a")], to: []).map(\.outcome) == [.delivered(attempts: 2)])
    #expect(ContinuousClock.now - start >= .seconds(1))
  }

  @Test("A server that asks for more patience than there is time is not asked again")
  func tooMuchPatience() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let webhook = Webhook(server.url("/busy/9/3600"))
    let report = try #require(office.deliver([OutgoingMessage(to: webhook, id: "a")], to: []).first)
    #expect(report.outcome == .stored(problem: "it answered 429, too many requests"))
    #expect(try server.visits(1).count == 1)
  }

  @Test(
    "What the server does not want is asked once, and kept",
    arguments: [
      (400, "it answered 400"), (401, "it answered 401"), (404, "it answered 404"), (410, "it answered 410"),
      (302, "it answered 302, a redirect, and redirects are not followed"),
    ]
  )
  func unwanted(status: Int, problem: String) throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let webhook = Webhook(server.url(status == 302 ? "/redirect" : "/status/\(status)"))
    let reports = office.deliver([OutgoingMessage(to: webhook, id: "a")], to: [])
    #expect(reports.map(\.outcome) == [.stored(problem: problem)])
    #expect(try server.visits(1).map(\.status) == [status])
    #expect(try office.files().count == 1)
  }

  @Test("A server that accepts and never answers costs no more than the time of the attempts")
  func silent() throws {
    var office = try PostOffice()
    let server = try LoopbackServer()
    office.policy.attemptTimeout = .milliseconds(200)
    office.policy.attempts = 2
    let report = try #require(
      office.deliver([OutgoingMessage(to: Webhook(server.url("/silent")), id: "a")], to: []).first
    )
    #expect(report.outcome == .stored(problem: "127.0.0.1:\(server.port) gave no answer in time (after 2 attempts)"))
  }

  @Test("An answer of 1 GB is a success like any other")
  func huge() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let reports = office.deliver([OutgoingMessage(to: Webhook(server.url("/huge")), id: "a")], to: [])
    #expect(reports.map(\.outcome) == [.delivered(attempts: 1)])
    #expect(try #require(try server.visits(1).first).sent < 64_000_000)
  }

  @Test("A webhook without an address is stored for")
  func unresolved() throws {
    let office = try PostOffice()
    let reports = office.deliver([OutgoingMessage(to: Webhook("http://nothing.invalid/x"), id: "a")], to: [])
    #expect(reports.map(\.label) == ["nothing.invalid"])
    #expect(reports.first?.problem == "no address is known for the host `nothing.invalid` (after 5 attempts)")
  }

  @Test("A slow webhook does not take the time of the next message")
  func fairness() throws {
    var office = try PostOffice()
    let server = try LoopbackServer()
    office.policy.totalBudget = .seconds(8)
    let (slow, good) = (Webhook(server.url("/silent"), named: "slow"), Webhook(server.url("/echo"), named: "good"))
    let first = office.deliver(
      [OutgoingMessage(to: slow, id: "a"), OutgoingMessage(to: good, id: "b")], to: [slow, good])
    #expect(first.map(\.isStored) == [true, false])
    let second = office.deliver([OutgoingMessage(to: good, id: "c")], to: [slow, good])
    #expect(second.map(\.wasFromOutbox) == [true, false])
    #expect(second.map(\.isStored) == [true, false])
  }

  @Test("After an interruption nothing is sent, and all is kept")
  func interrupted() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let webhook = Webhook(server.url("/echo"))
    office.interruption.request(by: SIGTERM)
    let reports = office.deliver(["a", "b"].map { OutgoingMessage(to: webhook, id: $0) }, to: [webhook])
    #expect(reports.map(\.outcome) == Array(repeating: .stored(problem: "the run was interrupted"), count: 2))
    #expect(try server.readLog().isEmpty)
    #expect(try office.files().count == 2)
  }

  @Test("An interruption ends an attempt that waits for its answer")
  func interruptedWhileWaiting() throws {
    var office = try PostOffice()
    let server = try LoopbackServer()
    office.policy.attemptTimeout = .seconds(50)
    let interruption = office.interruption
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      interruption.request(by: SIGINT)
    }
    let reports = office.deliver([OutgoingMessage(to: Webhook(server.url("/silent")), id: "a")], to: [])
    #expect(reports.map(\.outcome) == [.stored(problem: "the run was interrupted")])
  }

  @Test("Neither credentials, path, query nor secret are told or written, but the server gets them")
  func discretion() throws {
    let (server, office) = (try LoopbackServer(secret: "hush-secret"), try PostOffice())
    let url = "http://user:hush-password@127.0.0.1:\(server.port)/status/500?token=hush-token"
    let webhook = Webhook(url, secret: "hush-secret")
    let reports = office.deliver([OutgoingMessage(to: webhook, id: "a")], to: [webhook])
    let visit = try #require(try server.visits(5).first)
    #expect(visit.headers["authorization"] == "Basic " + Data("user:hush-password".utf8).base64EncodedString())
    #expect(visit.path == "/status/500?token=hush-token")
    var dumped = ""
    dump(reports, to: &dumped)
    dump(OutgoingMessage(to: webhook, id: "a"), to: &dumped)
    for text in try office.files().map(office.text) + [dumped] {
      #expect(!text.contains("hush") && !text.contains("status/500"))
    }
    #expect(try office.files().count == 1)
  }

  @Test("Webhooks of one host are told apart by their place, and one without a URL is known by it")
  func labels() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let webhooks = [
      Webhook(server.url("/echo"), named: "a"), Webhook("hush no URL", named: "b"),
      Webhook(server.url("/status/200"), named: "c"), Webhook(server.url("/echo", host: "localhost"), named: "d"),
    ]
    let reports = office.deliver(webhooks.map { OutgoingMessage(webhook: $0, body: []) }, to: webhooks)
    #expect(reports.map(\.label) == ["127.0.0.1 (webhook 1)", "webhook 2", "127.0.0.1 (webhook 3)", "localhost"])
    #expect(reports.map(\.isStored) == [false, true, false, false])
  }
}
