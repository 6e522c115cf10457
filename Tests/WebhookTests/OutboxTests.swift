import Foundation
import GateCore
import LinuxSystem
import LoopbackServers
import Testing

@testable import GateApplication

@Suite("Undelivered messages")
struct OutboxTests {
  @Test("The next run delivers a message to a server that was down, with the same ID")
  func nextRun() throws {
    let fixtures = try WebhookFixtures()
    let stopped = try LoopbackServer(secret: "s")
    stopped.stop()
    let webhook = Webhook(stopped.url("/echo"), secret: "s")
    let first = fixtures.deliver([OutgoingMessage(to: webhook, id: "id-1", "{\"n\":1}")], to: [webhook])
    #expect(first.map(\.isQueued) == [true])
    #expect(try fixtures.files().map { $0.hasSuffix("-id-1.json") } == [true])

    let server = try LoopbackServer(secret: "s", port: stopped.port)
    let second = fixtures.deliver([OutgoingMessage(to: webhook, id: "id-2")], to: [webhook])
    #expect(second.map(\.outcome) == [.delivered(attempts: 1), .delivered(attempts: 1)])
    #expect(second.map(\.wasQueued) == [true, false])
    let visits = try server.visits(2)
    #expect(visits.map { $0.headers["webhook-id"] } == ["id-1", "id-2"])
    #expect(visits.map(\.signatureIsValid) == [true, true])
    #expect(visits[0].body == Data("{\"n\":1}".utf8))
    #expect(try fixtures.files().isEmpty)
    #expect(fixtures.deliver([], to: [webhook]).isEmpty)
  }

  @Test("A run killed while it waits for a response leaves its message in the outbox")
  func killed() async throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let (outbox, port) = (fixtures.outbox, server.port)
    await #expect(processExitsWith: .signal(SIGKILL)) { [outbox = outbox as String, port = port as Int] in
      Thread.detachNewThread {
        // The message is sent after its file was written.
        while (try? FileManager.default.contentsOfDirectory(atPath: outbox).contains { $0.hasSuffix("a.json") }) != true
        {
          Thread.sleep(forTimeInterval: 0.01)
        }
        kill(getpid(), SIGKILL)
      }
      let sender = WebhookSender(outbox: outbox, of: "shop", tracked: { _ in [] }, interruption: Interruption())
      let webhook = Webhook("http://127.0.0.1:\(port)/silent", secret: "s")
      _ = sender.deliver([OutgoingMessage(to: webhook, id: "a")], webhooks: [webhook])
    }
    let webhook = Webhook(server.url("/echo"), secret: "s")
    let reports = fixtures.deliver([], to: [webhook])
    #expect(reports.map(\.deliveryID) == ["a"])
    #expect(reports.map(\.outcome) == [.delivered(attempts: 1)])
  }

  @Test("Only the owner can read the folder and its files")
  func permissions() throws {
    let fixtures = try WebhookFixtures()
    _ = fixtures.deliver([OutgoingMessage(to: Webhook("http://nothing.invalid/"), id: "a")], to: [])
    let file = try #require(try fixtures.files().first)
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(fixtures.outbox) == 0o700)
    #expect(try mode("\(fixtures.outbox)/\(file)") == 0o600)
  }

  @Test("A run without messages does not create an outbox")
  func noFolder() throws {
    let fixtures = try WebhookFixtures()
    #expect(fixtures.deliver([], to: [Webhook("http://h/")]).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: fixtures.outbox))
  }

  @Test("A message is lost only if it is not delivered and the outbox cannot be written")
  func lost() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    try Data().write(to: URL(fileURLWithPath: fixtures.folder.path("artifacts")))
    let reports = fixtures.deliver(
      [
        OutgoingMessage(to: Webhook(server.url("/status/404")), id: "a"),
        OutgoingMessage(to: Webhook(server.url("/echo")), id: "b"),
      ],
      to: []
    )
    #expect(reports.last?.outcome == .delivered(attempts: 1))
    let error = OutboxError.cannotCreate(folder: fixtures.outbox, errno: ENOTDIR)
    #expect(reports.first?.outcome == .lost(.status(404), attempts: 1, error))
  }

  @Test("An outbox that is a symbolic link is not followed")
  func linkedFolder() throws {
    let fixtures = try WebhookFixtures()
    let elsewhere = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: fixtures.folder.path("artifacts"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: fixtures.outbox, withDestinationPath: elsewhere.path)
    let reports = fixtures.deliver([OutgoingMessage(to: Webhook("http://nothing.invalid/"), id: "a")], to: [])
    #expect(reports.first?.isQueued == false)
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
  }

  @Test("After a webhook has rejected a queued message for a reason that concerns all, the others wait")
  func deadWebhook() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let dead = Webhook("http://nothing.invalid/", secret: "s")
    for id in ["a", "b", "c"] { _ = fixtures.deliver([OutgoingMessage(to: dead, id: id)], to: []) }
    let reports = fixtures.deliver([], to: [Webhook(server.url("/status/403"), secret: "s")])
    let rejected = try #require(try fixtures.files().last { $0.hasSuffix(".json.rejected") })
    #expect(
      reports.map(\.outcome) == [.rejected(.status(403), attempts: 1, file: rejected), .postponed(count: 2)])
    #expect(try server.visits(1).count == 1)
    #expect(try fixtures.files().count == 3)
  }

  @Test("A message that the server rejects does not stop the next ones")
  func rejectedMessage() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let dead = Webhook("http://nothing.invalid/", secret: "s")
    for id in ["a", "b"] { _ = fixtures.deliver([OutgoingMessage(to: dead, id: id)], to: []) }
    // The first request to this path fails with a status that concerns only that message.
    let webhook = Webhook(server.url("/flaky/1/422"), secret: "s")
    let reports = fixtures.deliver([], to: [webhook])
    let file = try #require(try fixtures.files().first)
    #expect(
      reports.map(\.outcome) == [.rejected(.status(422), attempts: 1, file: file), .delivered(attempts: 1)])
    #expect(reports.map(\.deliveryID) == ["a", "b"])
  }

  @Test("A message whose webhook was removed from the project file is reported once, and kept")
  func removedWebhook() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let old = Webhook("http://nothing.invalid/", named: "old", secret: "s")
    _ = fixtures.deliver([OutgoingMessage(to: old, id: "a")], to: [])
    let new = Webhook(server.url("/echo"), named: "new", secret: "s")
    let reports = fixtures.deliver([], to: [new])
    #expect(reports.map(\.outcome) == [.withoutWebhook])
    #expect(reports.map(\.webhook) == [nil])
    #expect(fixtures.deliver([], to: [new]).isEmpty)
    #expect(try fixtures.files().count == 1)
    let back = Webhook(server.url("/echo"), named: "old", secret: "s")
    #expect(fixtures.deliver([], to: [back]).map(\.outcome) == [.delivered(attempts: 1)])
    #expect(try fixtures.files().isEmpty)
  }

  @Test("After 30 days a message is deleted and reported, and not sent", arguments: [false, true])
  func expired(hasWebhook: Bool) throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url("/echo"), secret: "s")
    let message = OutgoingMessage(to: webhook, id: "a")
    let outbox = try Outbox(creating: fixtures.outbox)
    _ = try outbox.add(message, of: "shop", at: Date(timeIntervalSinceNow: -31 * 24 * 3600))
    _ = try outbox.add(message, of: "shop", at: Date(timeIntervalSinceNow: -29 * 24 * 3600))
    let reports = fixtures.deliver([], to: hasWebhook ? [webhook] : [])
    #expect(reports.map(\.outcome) == [.expired, hasWebhook ? .delivered(attempts: 1) : .withoutWebhook])
    #expect(try fixtures.files().count == (hasWebhook ? 0 : 1))
  }

  @Test(
    "A message that no run with the webhook's secret wrote is set aside and not sent",
    arguments: [
      // Written by a run with another secret, or with none.
      (secret: "other", edit: { @Sendable text in text }), (secret: nil, edit: { @Sendable text in text }),
      // Altered, or moved to another webhook.
      (secret: "s", edit: { $0.replacing("eyJ2ZXJkaWN0IjoicGFzcyJ9", with: "eyJ2ZXJkaWN0IjoiZmFpbCJ9") }),
      (secret: "s", edit: { $0.replacing("\"deliveryID\":\"a\"", with: "\"deliveryID\":\"b\"") }),
      (secret: "s", edit: { $0.replacing("\"event\":\"check\"", with: "\"event\":\"approval\"") }),
      (secret: "s", edit: { $0.replacing(/"createdAt":"20../, with: "\"createdAt\":\"2091") }),
      (secret: "s", edit: { $0.replacing(/"proof":"[0-9a-f]*"/, with: "\"proof\":\"\"") }),
    ] as [(secret: String?, edit: @Sendable (String) -> String)])
  func forged(secret: String?, edit: @Sendable (String) -> String) throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let writer = Webhook(server.url("/echo"), secret: secret)
    let name = try Outbox(creating: fixtures.outbox).add(OutgoingMessage(to: writer, id: "a"), of: "shop", at: .now)
    let webhook = Webhook(server.url("/echo"), secret: "s")
    let written = try fixtures.text(of: name)
    #expect(secret != "s" || edit(written) != written)
    try fixtures.write(edit(written), to: name)
    #expect(fixtures.deliver([], to: [webhook]).map(\.outcome) == [.unproven(file: name, .noProof)])
    #expect(try fixtures.files() == [name + ".broken"])
    #expect(fixtures.deliver([OutgoingMessage(to: webhook, id: "z")], to: [webhook]).map(\.deliveryID) == ["z"])
    #expect(try server.visits(1).map { $0.headers["webhook-id"] } == ["z"])
  }

  @Test("A queued message of another project with the same webhook is not sent")
  func otherProject() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url("/echo"), secret: "s")
    let name = try Outbox(creating: fixtures.outbox).add(OutgoingMessage(to: webhook, id: "a"), of: "bank", at: .now)
    #expect(fixtures.deliver([], to: [webhook]).map(\.outcome) == [.unproven(file: name, .noProof)])
    #expect(try fixtures.files() == [name + ".broken"])
  }

  @Test("A copy of a message that was sent from the outbox is not sent again")
  func copy() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url("/echo"), secret: "s")
    let name = try Outbox(creating: fixtures.outbox).add(OutgoingMessage(to: webhook, id: "a"), of: "shop", at: .now)
    let copy = try fixtures.text(of: name)
    #expect(fixtures.deliver([], to: [webhook]).map(\.outcome) == [.delivered(attempts: 1)])
    try fixtures.write(copy, to: "1-x.json")
    #expect(fixtures.deliver([], to: [webhook]).map(\.outcome) == [.unproven(file: "1-x.json", .sentBefore)])
    #expect(try server.visits(1).count == 1)
  }

  @Test("A queued message that git tracks is not sent")
  func tracked() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let webhook = Webhook(server.url("/echo"), secret: "s")
    let name = try Outbox(creating: fixtures.outbox).add(OutgoingMessage(to: webhook, id: "a"), of: "shop", at: .now)
    let git = Process()
    git.executableURL = URL(fileURLWithPath: "/bin/sh")
    git.arguments = ["-c", "cd '\(fixtures.outbox)/..' && git init -q . && git add -f ."]
    try git.run()
    git.waitUntilExit()
    #expect(git.terminationStatus == 0)
    #expect(fixtures.deliver([], to: [webhook]).map(\.outcome) == [.unproven(file: name, .tracked)])
    #expect(try fixtures.files() == [name + ".broken"])
  }

  @Test("A queued message of one webhook is not sent to another with the same secret")
  func movedMessage() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let (one, other) = (
      Webhook("http://nothing.invalid/", named: "one", secret: "s"),
      Webhook(server.url("/echo"), named: "other", secret: "s")
    )
    let name = try Outbox(creating: fixtures.outbox).add(OutgoingMessage(to: one, id: "a"), of: "shop", at: .now)
    try fixtures.write(fixtures.text(of: name).replacing(one.key, with: other.key), to: name)
    #expect(fixtures.deliver([], to: [other]).map(\.outcome) == [.unproven(file: name, .noProof)])
  }

  @Test(
    "An invalid message file is renamed and reported",
    arguments: [
      "", "not JSON", "[]", "{\"schema\":\"highwater.outbox/2\"}", String(repeating: "[", count: 100_000),
      """
      {"schema":"highwater.outbox/1","deliveryID":"a\\r\\nX: y","event":"check","createdAt":"2026-01-02T03:04:05Z",\
      "webhook":"k","body":"","proof":""}
      """,
    ]
  )
  func broken(text: String) throws {
    let fixtures = try WebhookFixtures()
    try fixtures.write(text, to: "1-x.json")
    let reports = fixtures.deliver([], to: [])
    #expect(reports.map(\.outcome) == [.malformed(file: "1-x.json")])
    #expect(try fixtures.files() == ["1-x.json.broken"])
    #expect(fixtures.deliver([], to: []).isEmpty)
  }

  @Test("Links, pipes, folders and huge files are renamed unread; files with other names are left alone")
  func otherFiles() throws {
    let fixtures = try WebhookFixtures()
    try fixtures.write("not touched", to: "README")
    func at(_ name: String) -> String { "\(fixtures.outbox)/\(name)" }
    try FileManager.default.createSymbolicLink(atPath: at("1-link.json"), withDestinationPath: "/etc/passwd")
    #expect(mkfifo(at("2-pipe.json"), 0o600) == 0)
    try FileManager.default.createDirectory(atPath: at("3-folder.json"), withIntermediateDirectories: false)
    try fixtures.write("", to: "4-huge.json")
    #expect(truncate(at("4-huge.json"), 1 << 40) == 0)
    #expect(fixtures.deliver([], to: []).count == 4)
    let expected = ["1-link", "2-pipe", "3-folder", "4-huge"].map { $0 + ".json.broken" } + ["README"]
    #expect(try fixtures.files() == expected)
  }

  @Test("Messages of a webhook whose variables are unset wait for a run that has them")
  func unsetVariables() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let dead = Webhook("http://nothing.invalid/", secret: "s")
    _ = fixtures.deliver([OutgoingMessage(to: dead, id: "a")], to: [])
    var webhook = Webhook(server.url("/echo"), secret: "s")
    webhook.unsetVariables = ["HOOK"]
    #expect(fixtures.deliver([], to: [webhook]).isEmpty)
    webhook.unsetVariables = []
    #expect(fixtures.deliver([], to: [webhook]).map(\.outcome) == [.delivered(attempts: 1)])
  }

  @Test("A temporary file of a killed run is removed after a day")
  func temporaryFiles() throws {
    let fixtures = try WebhookFixtures()
    try fixtures.write("{", to: ".highwater-1.tmp")
    try fixtures.write("{", to: ".highwater-2.tmp")
    let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -25 * 3600)]
    try FileManager.default.setAttributes(old, ofItemAtPath: "\(fixtures.outbox)/.highwater-1.tmp")
    #expect(fixtures.deliver([], to: []).isEmpty)
    #expect(try fixtures.files() == [".highwater-2.tmp"])
  }

  @Test("A full outbox keeps its messages and accepts no new one")
  func full() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    for number in 0..<Outbox.capacity { try fixtures.write("{", to: "\(number).json") }
    let outbox = try Outbox(folder: fixtures.outbox)
    let message = OutgoingMessage(to: Webhook(server.url("/status/404")), id: "a")
    #expect(throws: OutboxError.full(count: Outbox.capacity)) { try outbox.add(message, of: "shop", at: .now) }
    #expect(try fixtures.files().count == Outbox.capacity)
  }

  @Test("While another process delivers from the outbox, its messages are left alone")
  func locked() throws {
    let (server, fixtures) = (try LoopbackServer(), try WebhookFixtures())
    let outbox = try Outbox(creating: fixtures.outbox)
    let webhook = Webhook(server.url("/echo"))
    _ = try outbox.add(OutgoingMessage(to: webhook, id: "old"), of: "shop", at: .now)
    #expect(outbox.lock())
    let reports = fixtures.deliver([OutgoingMessage(to: webhook, id: "new")], to: [webhook])
    #expect(reports.map(\.deliveryID) == ["new"])
    #expect(try fixtures.files().count == 1)
    withExtendedLifetime(outbox) {}
  }

  @Test("A message is read back unchanged, whatever its bytes")
  func roundTrip() throws {
    let fixtures = try WebhookFixtures()
    let outbox = try Outbox(creating: fixtures.outbox)
    let webhook = Webhook("http://h/")
    let message = OutgoingMessage(webhook: webhook, event: "check", deliveryID: "a", body: Array(0...255))
    let name = try outbox.add(message, of: "shop", at: Date(timeIntervalSince1970: 1_700_000_000.5))
    #expect(name == "1700000000500-a.json")
    let entry = try #require(outbox.readContents { _ in [] }.entries.first)
    #expect(entry.message.message(to: webhook, of: "shop")?.body == message.body)
    #expect(entry.message.createdAt == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(try fixtures.text(of: name).contains("\"schema\":\"highwater.outbox/1\""))
  }
}
