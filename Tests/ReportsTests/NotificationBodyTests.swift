import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Webhook messages")
struct NotificationBodyTests {
  private static let links = (build: "https://ci.example/builds/17" as String?, report: nil as String?)

  private static func json(
    _ scenarios: [ScenarioResult],
    _ format: Webhook.Format,
    states: [ScenarioName: ScenarioState] = [:],
    links: (build: String?, report: String?) = links,
    news: [TrendEvent] = [],
    exitCode: ExitCode = .regression
  ) throws -> [String: Any] {
    let bytes = NotificationBody.bytes(
      Fixture.result(scenarios), states: states, news: news, format: format, links: links, exitCode: exitCode
    )
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  /// Hundreds of scenarios with long and hostile names.
  private static let hostileScenarios = (1...500).map { number in
    var scenario = number % 2 == 0 ? Fixture.hostile : Fixture.crashed
    scenario.name = ScenarioName("\(number)" + Fixture.hostileName + String(repeating: "漢&<`", count: 200))
    let text = Fixture.hostileName + String(repeating: "👩‍👩‍👧‍👦", count: 300)
    scenario.failure?.problem = .http(url: text, problem: .noAnswer(reason: "refused"), request: 1, of: 1)
    return scenario
  }

  private static var hostileRun: RunResult {
    var result = Fixture.result(hostileScenarios)
    result.run.branch = "<!channel>`@everyone\n" + String(repeating: "&", count: 500)
    result.run.commit = "<!here>"
    result.environment.name = "[x](http://evil)"
    return result
  }

  private static func hostile(_ format: Webhook.Format) throws -> (bytes: [UInt8], object: [String: Any]) {
    let bytes = NotificationBody.bytes(
      hostileRun, states: [:], format: format,
      links: (build: "https://x.example/a|b>c", report: "javascript:alert(1)"), exitCode: .regression
    )
    return (bytes, try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]))
  }

  @Test("The JSON message matches the golden file")
  func golden() throws {
    let scenarios = [Fixture.regressed, Fixture.passing("a"), Fixture.crashed, Fixture.withoutBaseline]
    let states = [ScenarioName("a"): ScenarioState.recovered, ScenarioName("api-server"): .still]
    let object = try Self.json(scenarios, .json, states: states)
    let data = try JSONSerialization.data(
      withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    )
    try Golden.expect(String(decoding: data, as: UTF8.self) + "\n", "notification.json")
  }

  @Test("The JSON message has the documented keys, and integer bytes")
  func contract() throws {
    let bytes = NotificationBody.bytes(
      Fixture.result([Fixture.regressed, Fixture.passing("a")]), states: [:], format: .json, links: Self.links,
      exitCode: .regression
    )
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains(#""median":24379392"#))
    #expect(text.contains(#""tolerance":{"absolute":524288,"limit":null,"percent":3}"#))
    #expect(text.contains(#""median":4915.2"#))
    #expect(text.contains(#""startedAt":"2026-01-02T03:04:05.678Z""#))
    let object = try Self.json([Fixture.regressed, Fixture.passing("a")], .json)
    let keys = ["schema", "verdict", "exitCode", "run", "environment", "summary", "scenarios", "events", "links"]
    #expect(Set(object.keys) == Set(keys))
    #expect(object["schema"] as? String == "highwater.notification/1")
    #expect(object["exitCode"] as? Int == 1)
    #expect(object["summary"] as? String == "1 of 2 scenarios regressed")
    #expect(object["links"] as? [String: String] == ["build": "https://ci.example/builds/17"])
    let scenarios = try #require(object["scenarios"] as? [[String: Any]])
    #expect(scenarios.map { $0["state"] as? String } == ["new", "ok"])
    let metrics = scenarios.map { ($0["metrics"] as? [[String: Any]] ?? []).map { $0["name"] as? String } }
    #expect(metrics == [["peak_rss", "growth"], []])
  }

  @Test("Each new event of the history is a line of a chat message, as code, and whole in JSON")
  func news() throws {
    let events = EventReportTests.events
    let text = try #require(try Self.json([], .mattermost, news: events, exitCode: .pass)["text"] as? String)
    #expect(text.contains("6 new events in the history"))
    let line = "• event: rise, median +12.7 % in `38 of 40 scenarios` at `4f2a91c18`; `unexplained`"
    #expect(text.contains(line), "\(text)")
    #expect(text.contains("• event: creep, +4.0 MiB (+4.0 %) in `session-churn` since `4f2a91c18`; "), "\(text)")
    #expect(text.contains("`evil") && !text.contains("\u{1b}"))
    let list = try #require(try Self.json([], .json, news: events)["events"] as? [[String: Any]])
    #expect(list.map { $0["id"] as? String } == events.map(\.id))
    #expect(try #require(try Self.json([], .json)["events"] as? [Any]).isEmpty)
  }

  @Test("Uncommitted changes are marked in all messages", arguments: Webhook.Format.allCases)
  func dirty(format: Webhook.Format) throws {
    var result = Fixture.result([Fixture.passing("a")])
    result.run.isDirty = true
    let bytes = NotificationBody.bytes(result, states: [:], format: format, links: Self.links, exitCode: .pass)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains(format == .json ? #""dirty":true"# : "4f2a91c0d6e8-dirty"), "\(text)")
  }

  @Test("The JSON message has the end and its evidence for a scenario without values")
  func ends() throws {
    let object = try Self.json([Fixture.outOfMemory, Fixture.spiking], .json)
    let scenarios = try #require(object["scenarios"] as? [[String: Any]])
    #expect(
      scenarios[0]["end"] as? [String: String] == [
        "kind": "oom", "signal": "KILL", "detail": "at its memory-limit of 100.0 MiB",
        "proof": "memory cgroup oom_kill 0 → 1, limit 100.0 MiB",
      ])
    #expect(scenarios[1]["end"] == nil)
  }

  @Test("Names are unchanged in JSON, and non-finite values are accepted")
  func unusualValues() throws {
    var scenario = Fixture.hostile
    scenario.metrics[0].current = .init(median: .nan, count: 1)
    scenario.metrics[0].change = .init(absolute: .infinity, percent: .nan, low: -.infinity, high: 1e300)
    let object = try Self.json([scenario], .json)
    let scenarios = try #require(object["scenarios"] as? [[String: Any]])
    #expect(scenarios.first?["name"] as? String == Fixture.hostileName)
  }

  @Test(
    "The chat messages match the golden files",
    arguments: [Webhook.Format.slack, .teams, .discord, .mattermost, .googleChat])
  func chat(format: Webhook.Format) throws {
    let scenarios = [
      Fixture.passing("fine"), Fixture.regressed, Fixture.passing("back"), Fixture.crashed, Fixture.improved,
    ]
    let object = try Self.json(scenarios, format, states: [ScenarioName("back"): .recovered])
    let data = try JSONSerialization.data(
      withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    )
    try Golden.expect(String(decoding: data, as: UTF8.self) + "\n", "chat-\(format.rawValue).json")
  }

  @Test("Slack: 500 hostile scenarios stay within the limits and mention nobody")
  func slack() throws {
    let (bytes, object) = try Self.hostile(.slack)
    let blocks = try #require(object["blocks"] as? [[String: Any]])
    #expect(blocks.count <= 50)
    let texts = blocks.compactMap { ($0["text"] as? [String: Any])?["text"] as? String }
    #expect(texts.count == blocks.count)
    #expect(texts.filter { $0.utf16.count > 3000 || $0.isEmpty } == [])
    #expect(texts[0].count <= 150)
    #expect(texts.last == "… and 485 more")
    let all = texts + [try #require(object["text"] as? String)]
    #expect(all.filter { $0.contains("<") || $0.contains(">") } == [])
    #expect(all.filter { $0.count { $0 == "`" } % 2 != 0 } == [])
    #expect(bytes.count < 100_000)
  }

  @Test("Teams: 500 hostile scenarios stay within 28 KB, and untrusted text is never Markdown")
  func teams() throws {
    let (bytes, object) = try Self.hostile(.teams)
    #expect(bytes.count < 28_000)
    let attachments = try #require(object["attachments"] as? [[String: Any]])
    let card = try #require(attachments.first?["content"] as? [String: Any])
    #expect(attachments.first?["contentType"] as? String == "application/vnd.microsoft.card.adaptive")
    #expect(card["type"] as? String == "AdaptiveCard")
    #expect(card["actions"] == nil)
    let body = try #require(card["body"] as? [[String: Any]])
    let blocks = body.filter { $0["type"] as? String == "TextBlock" }.compactMap { $0["text"] as? String }
    #expect(blocks == ["highwater: regression"])
  }

  @Test("Discord: 500 hostile scenarios stay within the limits and mention nobody")
  func discord() throws {
    let (_, object) = try Self.hostile(.discord)
    let content = try #require(object["content"] as? String)
    #expect(content.utf16.count <= 2000)
    #expect(!content.contains("@"))
    let embeds = try #require(object["embeds"] as? [[String: Any]])
    #expect(embeds.count == 1)
    let title = try #require(embeds.first?["title"] as? String)
    let description = try #require(embeds.first?["description"] as? String)
    #expect(title.utf16.count <= 256)
    #expect(description.utf16.count <= 4096)
    #expect(content.utf16.count + title.utf16.count + description.utf16.count <= 6000)
    #expect(description.count { $0 == "`" } % 2 == 0)
    #expect(!description.contains("](https://x.example"))
    let mentions = try #require(object["allowed_mentions"] as? [String: Any])
    #expect((mentions["parse"] as? [Any])?.isEmpty == true)
  }

  @Test(
    "One text: 500 hostile scenarios stay within the limits and mention nobody",
    arguments: [
      Webhook.Format.mattermost, .googleChat,
    ])
  func oneText(format: Webhook.Format) throws {
    let text = try #require(try Self.hostile(format).object["text"] as? String)
    #expect((500...4000).contains(text.utf16.count))
    #expect(text.contains(#/… and \d+ more$/#))
    #expect(!text.contains("x.example"), "an address that could end a link's markup is left out")
    #expect(text.count { $0 == "`" } % 2 == 0)
    if format == .googleChat { #expect(!text.contains("<") && !text.contains(">")) }
  }

  @Test("Plain text is readable as it is")
  func plain() throws {
    let states = [ScenarioName("back"): ScenarioState.recovered]
    let scenarios = [Fixture.regressed, Fixture.passing("back"), Fixture.crashed]
    let bytes = NotificationBody.bytes(
      Fixture.result(scenarios), states: states, format: .text, links: Self.links, exitCode: .regression)
    try Golden.expect(String(decoding: bytes, as: UTF8.self), "chat-text.txt")
  }

  @Test("Every format has a message for an empty run", arguments: Webhook.Format.allCases)
  func nothing(format: Webhook.Format) throws {
    let bytes = NotificationBody.bytes(
      Fixture.result([]), states: [:], format: format, links: Self.links, exitCode: .pass)
    #expect(String(decoding: bytes, as: UTF8.self).contains("no scenarios"))
    let isJSON = (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
    #expect(format.mediaType == (isJSON ? "application/json" : "text/plain; charset=utf-8"))
  }
}
