import Foundation
import LoopbackServers
import Testing

@Suite("Webhooks, from a check to a server", .endsHangs)
struct WebhookTests {
  /// Secrets that only the server may see.
  private static let secret = "whsec-4711-topsecret"
  private static let password = "pa55-in-the-url"
  private static let token = "t0ken-in-the-query"

  /// A URL with credentials of every kind.
  private func hook(_ server: LoopbackServer, _ path: String, scheme: String = "http", host: String = "127.0.0.1")
    -> String
  {
    "\(scheme)://user:\(Self.password)@\(host):\(server.port)\(path)?token=\(Self.token)"
  }

  private func project(_ mebibytes: Int = 4, on occasion: String = "always", format: String = "json") throws
    -> TemporaryProject
  {
    let keys = """
      webhooks:
        - {url: "${HOOK_URL}", on: \(occasion), format: \(format), secret: "${HOOK_SECRET}"}
      """
    return try .holding(mebibytes, repetitions: 1, keys: keys, scenarioKeys: "gate: {peak_rss: {limit: 20MiB}}")
  }

  private func variables(_ url: String) -> [String: String] {
    // Proxies and certificates of the machine must not matter.
    ["HOOK_URL": url, "HOOK_SECRET": Self.secret, "http_proxy": "", "https_proxy": "", "CURL_CA_BUNDLE": ""]
  }

  /// Expects no secret in the output or in a file.
  private func expectNoSecret(in project: TemporaryProject, _ outcomes: Highwater.Outcome...) throws {
    var texts = outcomes.flatMap { [$0.output, $0.errors] }
    let root = project.url(".highwater")
    for name in FileManager.default.enumerator(atPath: root.path)?.compactMap({ $0 as? String }) ?? [] {
      guard let data = try? Data(contentsOf: root.appendingPathComponent(name)) else { continue }
      texts.append(String(decoding: data, as: UTF8.self))
      // Bodies of queued messages are in base64.
      if name.hasSuffix(".json"), name.contains("outbox"), let message = try? object(in: texts[texts.count - 1]),
        let body = (message["body"] as? String).flatMap({ Data(base64Encoded: $0) })
      {
        texts.append(String(decoding: body, as: UTF8.self))
      }
    }
    for secret in [Self.secret, Self.password, Self.token] {
      #expect(!texts.contains { $0.contains(secret) }, "\(secret) leaked")
    }
  }

  private func waiting(in project: TemporaryProject) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: project.url(".highwater/outbox").path)
    return (names ?? []).filter { $0.hasSuffix(".json") }
  }

  @Test("A busy HTTPS server with a private CA gets the message after retries, signed and with one ID")
  func delivered() throws {
    let certificates = try Certificates()
    let server = try LoopbackServer(
      secret: Self.secret, certificate: certificates.identity(for: "DNS:localhost,IP:127.0.0.1"))
    let project = try project()
    var variables = variables(hook(server, "/flaky/2/503", scheme: "https", host: "localhost"))
    variables["SSL_CERT_FILE"] = certificates.authority
    let outcome = try Highwater.run("check", in: project, variables: variables)
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.messages == [])
    let visits = try server.visits(3)
    #expect(visits.map(\.status) == [503, 503, 200])
    #expect(Set(visits.compactMap { $0.headers["webhook-id"] }).count == 1)
    #expect(visits.allSatisfy { $0.signatureIsValid == true })
    #expect(Set(visits.map(\.body)).count == 1)
    let head = visits[2].headers
    #expect(visits[2].method == "POST")
    #expect(head["content-type"] == "application/json")
    #expect(head["user-agent"] == "highwater/0.1.0")
    #expect(head["x-highwater-event"] == "check")
    let body = try object(in: String(decoding: visits[2].body, as: UTF8.self))
    #expect(body["schema"] as? String == "highwater.notification/1")
    #expect(body["verdict"] as? String == "pass")
    #expect(body["exitCode"] as? Int == 0)
    #expect(
      (body["run"] as? [String: Any])?["id"] as? String == (try project.result()["run"] as? [String: Any])?["id"]
        as? String)
    #expect(Set(body.keys).isSuperset(of: ["run", "environment", "summary", "scenarios", "links"]))
    #expect(waiting(in: project).isEmpty)
    try expectNoSecret(in: project, outcome)
  }

  @Test("A server with an untrusted certificate gets nothing; the message is queued, and the verdict stays")
  func untrusted() throws {
    let certificates = try Certificates()
    let server = try LoopbackServer(secret: Self.secret, certificate: certificates.identity(for: "DNS:elsewhere.test"))
    let project = try project()
    for trust in [certificates.authority, "/etc/ssl/certs/ca-certificates.crt"] {
      var variables = variables(hook(server, "/echo", scheme: "https"))
      variables["SSL_CERT_FILE"] = trust
      let outcome = try Highwater.run("check", in: project, variables: variables)
      #expect(outcome.code == 0)
      #expect(outcome.verdict == "pass")
      #expect(outcome.errors.contains("warning:"), "\(outcome.errors)")
      try expectNoSecret(in: project, outcome)
    }
    #expect(try server.readLog().isEmpty)
    #expect(waiting(in: project).count == 2)
  }

  @Test("A message that could not be sent is sent by the next run, with the same ID")
  func outbox() throws {
    let first = try LoopbackServer(secret: Self.secret)
    let port = first.port
    first.stop()
    let project = try project()
    let dead = try Highwater.run("check", in: project, variables: variables(hook(first, "/echo")))
    #expect(dead.code == 0)
    #expect(dead.errors.contains("127.0.0.1"), "\(dead.errors)")
    let left = try #require(waiting(in: project).first)
    let id = try object(in: project.read(".highwater/outbox/\(left)"))["deliveryID"] as? String
    try expectNoSecret(in: project, dead)

    let second = try LoopbackServer(secret: Self.secret, port: port)
    let outcome = try Highwater.run("check", in: project, variables: variables(hook(second, "/echo")))
    #expect(outcome.code == 0)
    let visits = try second.visits(2)
    #expect(visits[0].headers["webhook-id"] == id)
    #expect(visits.allSatisfy { $0.signatureIsValid == true })
    #expect(Set(visits.compactMap { $0.headers["webhook-id"] }).count == 2)
    #expect(waiting(in: project).isEmpty)
  }

  @Test(
    "With `--require-delivery`, a failed delivery turns a pass into 6; a regression stays 1",
    arguments: [(4, 6 as Int32, "delivery"), (30, 1, "regression")])
  func requireDelivery(mebibytes: Int, code: Int32, verdict: String) throws {
    let server = try LoopbackServer()
    let project = try project(mebibytes)
    let outcome = try Highwater.run(
      "check", "--quiet", "--require-delivery", in: project, variables: variables(hook(server, "/status/404")))
    #expect(outcome.code == code, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.errors.contains("error: message to 127.0.0.1 refused"), "\(outcome.errors)")
    #expect(outcome.verdict == verdict)
    let delivered = try Highwater.run(
      "check", "--require-delivery", in: self.project(mebibytes), variables: variables(hook(server, "/echo"))
    )
    #expect(delivered.code == (code == 6 ? 0 : code))
  }

  @Test("A refused message is reported once; later runs exit by their own message, and what was put off is sent")
  func refused() throws {
    let (refusing, server) = (try LoopbackServer(), try LoopbackServer())
    let project = try project()
    func check(_ url: String) throws -> Highwater.Outcome {
      try Highwater.run("check", "--require-delivery", in: project, variables: variables(url))
    }
    let first = try check(hook(refusing, "/status/400"))
    #expect(first.code == 6)
    #expect(first.errors.contains("it is not sent again"), "\(first.errors)")
    server.stop()
    #expect(try check(hook(server, "/echo")).code == 6)
    let back = try LoopbackServer(secret: Self.secret, port: server.port)
    let last = try check(hook(back, "/echo"))
    #expect(last.code == 0)
    #expect(last.messages == [])
    #expect(try back.visits(2).count == 2)
    #expect(try refusing.visits(1).count == 1)
    let names = try FileManager.default.contentsOfDirectory(atPath: project.url(".highwater/outbox").path)
    #expect(names.filter { !$0.hasSuffix(".sent") }.map { $0.hasSuffix(".json.rejected") } == [true])
    try expectNoSecret(in: project, first, last)
  }

  @Test("A regression is new, then persists, then recovers; a webhook for changes gets the first and the last message")
  func changes() throws {
    let (all, changes, failures) = (try LoopbackServer(), try LoopbackServer(), try LoopbackServer())
    let keys = """
      webhooks:
        - {url: "\(all.url("/echo"))"}
        - {url: "\(changes.url("/echo"))", on: change}
        - {url: "\(failures.url("/echo"))", on: failure}
      """
    let project = try TemporaryProject.holding(
      4, repetitions: 1, keys: keys, scenarioKeys: "gate: {peak_rss: {limit: 20MiB}}")
    for (mebibytes, code) in [(4, 0 as Int32), (30, 1), (30, 1), (4, 0)] {
      try project.hold(mebibytes)
      #expect(try Highwater.run("check", in: project, variables: ["http_proxy": ""]).code == code)
    }
    func states(_ server: LoopbackServer, _ count: Int) throws -> [String] {
      try server.visits(count).map { visit in
        let body = try object(in: String(decoding: visit.body, as: UTF8.self))
        return (body["scenarios"] as? [[String: Any]])?.first?["state"] as? String ?? "?"
      }
    }
    #expect(try states(all, 4) == ["ok", "new", "still", "recovered"])
    #expect(try states(changes, 2) == ["new", "recovered"])
    #expect(try states(failures, 2) == ["new", "still"])
  }

  @Test("Messages for chat services are JSON", arguments: ["slack", "teams", "discord", "google-chat"])
  func formats(format: String) throws {
    let server = try LoopbackServer(secret: Self.secret)
    let project = try project(format: format)
    #expect(try Highwater.run("check", in: project, variables: variables(hook(server, "/echo"))).code == 0)
    let visit = try server.visits(1)[0]
    #expect(visit.signatureIsValid == true)
    #expect(try !object(in: String(decoding: visit.body, as: UTF8.self)).isEmpty)
  }

  @Test("An unset variable is an error before a target starts; `--no-notify` needs no variables and sends nothing")
  func unset() throws {
    let server = try LoopbackServer()
    let project = try project()
    let outcome = try Highwater.run("check", in: project, variables: ["HOOK_SECRET": Self.secret, "CI": "true"])
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("HOOK_URL"))
    #expect(!outcome.errors.contains("HOOK_SECRET"))
    #expect(project.starts == 0)
    let silent = try Highwater.run("check", "--no-notify", in: project)
    #expect(silent.code == 0)
    #expect(
      try Highwater.run("check", "--no-notify", in: project, variables: variables(hook(server, "/echo"))).code == 0)
    #expect(try server.readLog().isEmpty)
    #expect(waiting(in: project).isEmpty)
    try expectNoSecret(in: project, outcome, silent)
  }

  /// Servers are tested with the HTTP client and the sender; this tests that they do not affect the verdict.
  @Test(
    "An invalid, oversized or missing response does not change the verdict",
    arguments: ["/garbage", "/huge", "/silent"])
  func badResponse(path: String) throws {
    let server = try LoopbackServer(secret: Self.secret)
    let project = try project()
    let outcome = try Highwater.run("check", in: project, variables: variables(hook(server, path)))
    #expect(outcome.code == 0)
    #expect(outcome.verdict == "pass")
    try expectNoSecret(in: project, outcome)
  }
}
