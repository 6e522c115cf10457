import Foundation
import GateCore
import LinuxSystem
import LoopbackServers
import Testing

@testable import GateWebhook

@Suite("What could not be delivered")
struct OutboxTests {
  @Test("A message for a dead port goes out with the next run, under the same id")
  func nextRun() throws {
    let office = try PostOffice()
    let gone = try LoopbackServer(secret: "s")
    gone.stop()
    let webhook = Webhook(gone.url("/echo"), secret: "s")
    let first = office.deliver([OutgoingMessage(to: webhook, id: "id-1", "{\"n\":1}")], to: [webhook])
    #expect(first.map(\.isStored) == [true])
    #expect(try office.files().map { $0.hasSuffix("-id-1.json") } == [true])

    let server = try LoopbackServer(secret: "s", port: gone.port)
    let second = office.deliver([OutgoingMessage(to: webhook, id: "id-2")], to: [webhook])
    #expect(second.map(\.outcome) == [.delivered(attempts: 1), .delivered(attempts: 1)])
    #expect(second.map(\.wasFromOutbox) == [true, false])
    let visits = try server.visits(2)
    #expect(visits.map { $0.headers["x-highwater-delivery"] } == ["id-1", "id-2"])
    #expect(visits.map(\.signatureIsValid) == [true, true])
    #expect(visits[0].body == Data("{\"n\":1}".utf8))
    #expect(try office.files().isEmpty)
    #expect(office.deliver([], to: [webhook]).isEmpty)
  }

  @Test("A run that is killed while it waits for an answer leaves its message behind")
  func killed() async throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let (outbox, port) = (office.outbox, server.port)
    await #expect(processExitsWith: .signal(SIGKILL)) { [outbox = outbox as String, port = port as Int] in
      Thread.detachNewThread {
        // The message is on its way once its file is there.
        while (try? FileManager.default.contentsOfDirectory(atPath: outbox).contains { $0.hasSuffix("a.json") }) != true
        {
          Thread.sleep(forTimeInterval: 0.01)
        }
        kill(getpid(), SIGKILL)
      }
      let postman = Postman(outbox: outbox, interruption: Interruption())
      let webhook = Webhook("http://127.0.0.1:\(port)/silent")
      _ = postman.deliver([OutgoingMessage(to: webhook, id: "a")], webhooks: [webhook])
    }
    let webhook = Webhook(server.url("/echo"))
    let reports = office.deliver([], to: [webhook])
    #expect(reports.map(\.deliveryID) == ["a"])
    #expect(reports.map(\.outcome) == [.delivered(attempts: 1)])
  }

  @Test("The folder and its files are ours alone")
  func permissions() throws {
    let office = try PostOffice()
    _ = office.deliver([OutgoingMessage(to: Webhook("http://nothing.invalid/"), id: "a")], to: [])
    let file = try #require(try office.files().first)
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(office.outbox) == 0o700)
    #expect(try mode("\(office.outbox)/\(file)") == 0o600)
  }

  @Test("A run without messages makes no outbox")
  func noFolder() throws {
    let office = try PostOffice()
    #expect(office.deliver([], to: [Webhook("http://h/")]).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: office.outbox))
  }

  @Test("A message is only lost where it was not delivered and the outbox cannot be written")
  func lost() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    try Data().write(to: URL(fileURLWithPath: office.folder.path("artifacts")))
    let reports = office.deliver(
      [
        OutgoingMessage(to: Webhook(server.url("/status/404")), id: "a"),
        OutgoingMessage(to: Webhook(server.url("/echo")), id: "b"),
      ],
      to: []
    )
    #expect(reports.last?.outcome == .delivered(attempts: 1))
    let outcome = try #require(reports.first?.outcome)
    let expected =
      "it answered 404; and it could not be kept: the outbox `\(office.outbox)` cannot be made: Not a directory"
    #expect(outcome == .lost(problem: expected))
  }

  @Test("An outbox that is a symbolic link is not followed")
  func linkedFolder() throws {
    let office = try PostOffice()
    let elsewhere = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: office.folder.path("artifacts"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: office.outbox, withDestinationPath: elsewhere.path)
    let reports = office.deliver([OutgoingMessage(to: Webhook("http://nothing.invalid/"), id: "a")], to: [])
    #expect(reports.first?.isStored == false)
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
  }

  @Test("A webhook that is not reachable has one attempt set for all of its older messages")
  func deadWebhook() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let closed = Webhook(server.url("/status/403"))
    _ = office.deliver(["a", "b", "c"].map { OutgoingMessage(to: closed, id: $0) }, to: [])
    _ = try server.visits(3)
    let reports = office.deliver([], to: [closed])
    #expect(reports.map(\.outcome) == [.stored(problem: "it answered 403"), .stored(problem: "2 more messages wait")])
    #expect(try server.visits(4).count == 4)
    #expect(try office.files().count == 3)
  }

  @Test("A message that the server does not want does not hold up the ones after it")
  func poison() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let dead = Webhook("http://nothing.invalid/")
    for id in ["a", "b"] { _ = office.deliver([OutgoingMessage(to: dead, id: id)], to: []) }
    // The first request of this path fails with a status that concerns the message.
    let healed = Webhook(server.url("/flaky/1/422"))
    let reports = office.deliver([], to: [healed])
    #expect(reports.map(\.outcome) == [.stored(problem: "it answered 422"), .delivered(attempts: 1)])
    #expect(reports.map(\.deliveryID) == ["a", "b"])
  }

  @Test("A letter for a webhook that the project file no longer has is told of once, and waits for it")
  func unclaimed() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let old = Webhook("http://nothing.invalid/", named: "old")
    _ = office.deliver([OutgoingMessage(to: old, id: "a")], to: [])
    let new = Webhook(server.url("/echo"), named: "new")
    let reports = office.deliver([], to: [new])
    #expect(reports.map(\.outcome) == [.stored(problem: "it belongs to no webhook of the project file")])
    #expect(reports.map(\.label) == ["outbox"])
    #expect(office.deliver([], to: [new]).isEmpty)
    #expect(try office.files().count == 1)
    let back = Webhook(server.url("/echo"), named: "old")
    #expect(office.deliver([], to: [back]).map(\.outcome) == [.delivered(attempts: 1)])
    #expect(try office.files().isEmpty)
  }

  @Test("After 30 days such a letter is given up, and that is told")
  func expired() throws {
    let office = try PostOffice()
    let message = OutgoingMessage(to: Webhook("http://nothing.invalid/"), id: "a")
    let outbox = try Outbox(making: office.outbox)
    _ = try outbox.add(message, at: Date(timeIntervalSinceNow: -31 * 24 * 3600))
    _ = try outbox.add(message, at: Date(timeIntervalSinceNow: -29 * 24 * 3600))
    let reports = office.deliver([], to: [])
    #expect(
      reports.map(\.outcome) == [
        .lost(problem: "it belongs to no webhook of the project file, and waited for 30 days"),
        .stored(problem: "it belongs to no webhook of the project file"),
      ]
    )
    #expect(try office.files().count == 1)
  }

  @Test(
    "A file that holds no letter is set aside and told of",
    arguments: [
      "", "not JSON", "[]", "{\"schema\":\"highwater.outbox/2\"}", String(repeating: "[", count: 100_000),
      """
      {"schema":"highwater.outbox/1","deliveryID":"a\\r\\nX: y","event":"check","createdAt":"2026-01-02T03:04:05Z",\
      "webhook":"k","body":""}
      """,
    ]
  )
  func broken(text: String) throws {
    let office = try PostOffice()
    try office.put(text, as: "1-x.json")
    let reports = office.deliver([], to: [])
    let problem = "`1-x.json` holds no message; it was set aside as `1-x.json.broken`"
    #expect(reports.map(\.outcome) == [.stored(problem: problem)])
    #expect(try office.files() == ["1-x.json.broken"])
    #expect(office.deliver([], to: []).isEmpty)
  }

  @Test("Links, pipes, folders and huge files are set aside unread; what is no letter by its name is left alone")
  func hostile() throws {
    let office = try PostOffice()
    try office.put("left alone", as: "README")
    func at(_ name: String) -> String { "\(office.outbox)/\(name)" }
    try FileManager.default.createSymbolicLink(atPath: at("1-link.json"), withDestinationPath: "/etc/passwd")
    #expect(mkfifo(at("2-pipe.json"), 0o600) == 0)
    try FileManager.default.createDirectory(atPath: at("3-folder.json"), withIntermediateDirectories: false)
    try office.put("", as: "4-huge.json")
    #expect(truncate(at("4-huge.json"), 1 << 40) == 0)
    #expect(office.deliver([], to: []).count == 4)
    let expected = ["1-link", "2-pipe", "3-folder", "4-huge"].map { $0 + ".json.broken" } + ["README"]
    #expect(try office.files() == expected)
  }

  @Test("A draft that a killed run has left goes after a day")
  func drafts() throws {
    let office = try PostOffice()
    try office.put("{", as: ".1-old.json.tmp")
    try office.put("{", as: ".2-new.json.tmp")
    let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -25 * 3600)]
    try FileManager.default.setAttributes(old, ofItemAtPath: "\(office.outbox)/.1-old.json.tmp")
    #expect(office.deliver([], to: []).isEmpty)
    #expect(try office.files() == [".2-new.json.tmp"])
  }

  @Test("A full outbox keeps what it has, and what is new is lost only where it cannot be delivered")
  func full() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    for number in 0..<Outbox.capacity { try office.put("{", as: "\(number).json") }
    let outbox = try Outbox(folder: office.outbox)
    let message = OutgoingMessage(to: Webhook(server.url("/status/404")), id: "a")
    #expect(throws: OutboxError.self) { try outbox.add(message, at: .now) }
    #expect(try office.files().count == Outbox.capacity)
  }

  @Test("While another process delivers from the outbox, its letters are left to it")
  func claimed() throws {
    let (server, office) = (try LoopbackServer(), try PostOffice())
    let outbox = try Outbox(making: office.outbox)
    let webhook = Webhook(server.url("/echo"))
    _ = try outbox.add(OutgoingMessage(to: webhook, id: "old"), at: .now)
    #expect(outbox.claim())
    let reports = office.deliver([OutgoingMessage(to: webhook, id: "new")], to: [webhook])
    #expect(reports.map(\.deliveryID) == ["new"])
    #expect(try office.files().count == 1)
    withExtendedLifetime(outbox) {}
  }

  @Test("A letter comes back from its file as it was, whatever bytes it holds")
  func roundTrip() throws {
    let office = try PostOffice()
    let outbox = try Outbox(making: office.outbox)
    let webhook = Webhook("http://h/")
    let message = OutgoingMessage(webhook: webhook, event: "check", deliveryID: "a", body: Array(0...255))
    let name = try outbox.add(message, at: Date(timeIntervalSince1970: 1_700_000_000.5))
    #expect(name == "1700000000500-a.json")
    let entry = try #require(outbox.takeStock().entries.first)
    #expect(entry.letter.message(to: webhook).body == message.body)
    #expect(entry.letter.createdAt == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(try office.text(of: name).contains("\"schema\":\"highwater.outbox/1\""))
  }
}
