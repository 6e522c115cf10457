import Testing

@testable import GateApplication
@testable import GateCore

/// Events, and what is folded away.
extension TrendPageTests {
  @Test("The overview starts with the events, the newest first, with commands to copy")
  func events() async throws {
    let trend = TrendExample.trend(scenarios: 10, length: 60)
    try await visit { (browser: Browser) async throws -> Void in
      let items = "[...document.querySelectorAll('.timeline li')]"
      #expect(try await browser.evaluate("return \(items).length") == trend.events.count)
      let dates: [String] = try await browser.evaluate(
        "return [...document.querySelectorAll('.timeline .when')].map(e => e.textContent)")
      #expect(dates == dates.sorted(by: >) && !dates.isEmpty)
      let environment: String = try await browser.evaluate(
        "return \(items).find(e => e.textContent.includes('environment')).textContent")
      #expect(environment.replacing("\u{a0}", with: " ").contains("libc glibc 2.36 → glibc 2.41"))
      let first = try #require(trend.events.first { $0.kind == .rise && $0.bisectCommand != nil })
      let place = 1 + (trend.events.firstIndex(of: first) ?? 0)
      let item = ".timeline li:nth-child(\(place))"
      try await browser.click("\(item) summary")
      try await browser.wait(for: "return document.querySelector('\(item) .copy').offsetParent !== null")
      try await browser.click("\(item) .copy:last-of-type button")
      try await browser.wait(
        for: "return document.querySelector('\(item) .copy:last-of-type button').textContent !== 'Copy'")
      let command = try await browser.text("\(item) .copy:last-of-type .command")
      #expect(command?.hasPrefix("highwater bisect --good ") == true)
      try await browser.click("\(item) td a")
      try await browser.wait(for: "return document.querySelectorAll('.series:not(.closed) canvas').length > 0")
      #expect(try await browser.text(".series:not(.closed) h2")?.hasPrefix(first.scenarios[0].text) == true)
    }
  }

  @Test("The list of events filters the scenarios, and the link contains the event")
  func scenariosOfEvent() async throws {
    let trend = TrendExample.trend(scenarios: 10, length: 60)
    let shared = try #require(trend.events.first { $0.scenarios.count > 1 })
    let names = Set(shared.scenarios.map(\.text))
    try await visit("event=\(shared.id)") { (browser: Browser) async throws -> Void in
      #expect(try await Set(self.names(browser)) == names)
      #expect(try await browser.evaluate("return document.querySelector('#event').value") == shared.id)
    }
  }

  @Test("The events with the most scenarios are not folded away behind newer ones")
  func largestEvents() throws {
    var trend = TrendExample.trend(scenarios: 10, length: 60)
    let large = try #require(trend.events.max { $0.scenarios.count < $1.scenarios.count })
    let single = try #require(trend.events.first { $0.scenarios.count == 1 })
    trend.events = Array(repeating: single, count: 30) + [large]
    let values = EventSection(trend: trend).values
    let (shown, others) = (values["events"] as? [String] ?? [], values["others"] as? [String] ?? [])
    #expect(shown.count == 12 && others.count == 19)
    #expect(shown.last?.contains("\(large.scenarios.count) of ") == true)
  }

  @Test("A step that other scenarios share says so on a scenario's page")
  func sharedStep() throws {
    let trend = TrendExample.trend(scenarios: 10, length: 60)
    let shared = try #require(trend.events.first { $0.scenarios.count > 1 && $0.kind != .creep })
    let change = try #require(shared.changes.first)
    let sharers = trend.eventsOfSteps.mapValues { trend.events[$0].scenarios.count }
    let section = TrendSection(number: change.series, of: trend, sharers: sharers)
    let events = section.values["events"] as? [[String: Any]] ?? []
    let text = "; with \(Format.count(shared.scenarios.count - 1, "other scenario"))"
    #expect(events.contains { ($0["text"] as? String)?.hasSuffix(text) == true })
  }

  @Test("Charts of metrics without a rule are folded, and drawn when they are opened")
  func folded() async throws {
    try await visit("scenario=redis-load") { (browser: Browser) async throws -> Void in
      let fold = ".series:not(.closed) .unjudged"
      try await browser.wait(for: "return document.querySelectorAll('.series:not(.closed) canvas').length > 0")
      #expect(try await browser.evaluate("return document.querySelectorAll('\(fold) canvas').length") == 0)
      let metrics: [String] = try await browser.evaluate(
        "return [...document.querySelectorAll('\(fold) figure')].map(figure => figure.dataset.metric)")
      #expect(metrics == ["spike", "tree_peak"])
      try await browser.click("\(fold) > summary")
      try await browser.wait(for: "return document.querySelectorAll('\(fold) canvas').length > 0")
      let widths: [Double] = try await browser.evaluate(
        "return [...document.querySelectorAll('\(fold) .plot')].map(plot => plot.clientWidth)")
      #expect(widths.count == 2 && widths.allSatisfy { $0 > 100 })
    }
    try await visit("scenario=redis-load&metric=spike") { (browser: Browser) async throws -> Void in
      try await browser.wait(for: "return document.querySelectorAll('.series:not(.closed) canvas').length > 0")
    }
  }
}
