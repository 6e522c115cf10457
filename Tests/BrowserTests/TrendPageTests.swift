import Foundation
import GateCore
import Testing

@testable import GateApplication

/// Each test also expects no other request and an empty console.
@Suite("The trend page in a browser", .serialized, .inBrowser, .needsBrowser, .timeLimit(.minutes(60)))
struct TrendPageTests {
  static let page = TrendPage.text(TrendExample.trend(scenarios: 10, length: 60))

  func visit(_ fragment: String = "", as view: Browser.View = .desktop, _ work: (Browser) async throws -> Void)
    async throws
  {
    try await Browser.current.visit(Self.page, at: fragment, as: view, work)
  }

  static let visibleRows = "[...document.querySelectorAll('#scenarios tbody tr')].filter(row => row.offsetParent)"

  /// The scenarios in the overview, in order.
  func names(_ browser: Browser) async throws -> [String] {
    try await browser.evaluate("return \(Self.visibleRows).map(row => row.querySelector('a').textContent)")
  }

  func fragment(_ browser: Browser) async throws -> String {
    try await browser.evaluate("return decodeURIComponent(location.hash)")
  }

  func readout(_ browser: Browser) async throws -> String {
    try await browser.text(".series:not(.closed) .readout") ?? ""
  }

  func focusChart(_ browser: Browser) async throws {
    let _: Bool = try await browser.evaluate(
      "document.querySelector(arguments[0]).focus(); return true", .text(Self.chart))
  }

  static let chart = ".series:not(.closed) figure[data-metric=peak_rss] .plot"

  // MARK: Overview

  @Test("Scenarios that need attention come first, with text and an icon")
  func order() async throws {
    try await visit { (browser: Browser) async throws -> Void in
      let states: [String] = try await browser.evaluate(
        "return \(Self.visibleRows).map(row => row.querySelector('.state').textContent.trim())")
      #expect(states.prefix(3) == ["✗ regression", "▲ unexplained rise", "↗ creep"])
      #expect(states.last == "✓ pass")
    }
  }

  @Test("A slash moves to the filter, its words select rows, and the link contains them")
  func filter() async throws {
    try await visit { (browser: Browser) async throws -> Void in
      try await browser.type("/redis load")
      #expect(try await names(browser) == ["redis-load", "redis-load"])
      #expect(try await browser.text("#count") == "2 of 13 shown")
      #expect(try await fragment(browser) == "#q=redis+load")
    }
  }

  @Test(
    "Each list filters independently",
    arguments: [
      ("branch=lru-cache", ["api-gateway-boot", "parser-large-file"]),
      ("env=linux-aarch64-4cpu-traced", ["redis-load"]),
      ("state=creep", ["postgres-bulk-insert"]), ("tag=nightly&state=unexplained+rise", ["api-gateway-boot"]),
      ("q=nothing-like-it", []),
    ]
  )
  func lists(fragment: String, expected: [String]) async throws {
    try await visit(fragment) { (browser: Browser) async throws -> Void in
      #expect(try await names(browser) == expected)
      #expect(try await browser.text("#count") == "\(expected.count) of 13 shown")
    }
  }

  @Test("Changing a list applies the filter")
  func changedList() async throws {
    try await visit { (browser: Browser) async throws -> Void in
      try await browser.click("#branch")
      try await browser.type("lru")
      try await browser.press(.enter)
      #expect(try await names(browser) == ["api-gateway-boot", "parser-large-file"])
      #expect(try await fragment(browser) == "#branch=lru-cache")
    }
  }

  @Test("Headings sort, numbers first in descending order, and show the direction")
  func sort() async throws {
    try await visit { (browser: Browser) async throws -> Void in
      try await browser.click("th[data-sort=peak] button")
      let largest = try await names(browser)
      #expect(largest.first == "parser-large-file")
      #expect(
        try await browser.evaluate("return document.querySelector('th[data-sort=peak]').ariaSort") == "descending")
      try await browser.click("th[data-sort=peak] button")
      #expect(try await names(browser).last == "parser-large-file")
      try await browser.click("th[data-sort=name] button")
      let byName = try await names(browser)
      #expect(byName == byName.sorted())
    }
  }

  @Test("j and k select rows, Enter opens a row, and Escape returns to it")
  func keyboardWalk() async throws {
    try await visit { (browser: Browser) async throws -> Void in
      try await browser.type("jjjk")
      let second = try await names(browser)[1]
      let focused = "return document.activeElement.textContent"
      #expect(try await browser.evaluate(focused) == second)
      try await browser.press(.enter)
      try await browser.wait(for: "return document.querySelector('#overview').offsetParent === null")
      #expect(try await browser.evaluate("return document.activeElement.tagName") == "H2")
      try await browser.press(.escape)
      try await browser.wait(for: "return document.querySelector('#overview').offsetParent !== null")
      #expect(try await browser.evaluate(focused) == second)
    }
  }

  @Test("Tab reaches every heading, row and list")
  func tab() async throws {
    try await visit { (browser: Browser) async throws -> Void in
      var seen: Set<String> = []
      for _ in 0..<30 {
        try await browser.press(.tab)
        seen.insert(
          try await browser.evaluate("return document.activeElement.tagName + (document.activeElement.id || '')"))
      }
      #expect(seen.isSuperset(of: ["INPUTq", "SELECTtag", "SELECTbranch", "SELECTenv", "BUTTON", "A"]))
    }
  }

  // MARK: A scenario

  @Test("A row opens the scenario, and the browser's Back returns")
  func openAndBack() async throws {
    try await visit { (browser: Browser) async throws -> Void in
      try await browser.click("#scenarios tbody tr:first-child a")
      try await browser.wait(for: "return location.hash.includes('scenario=')")
      try await browser.wait(for: "return document.querySelectorAll('.series:not(.closed) canvas').length > 0")
      try await browser.back()
      try await browser.wait(for: "return document.querySelector('#overview').offsetParent !== null")
      #expect(try await names(browser).count == 13)
    }
  }

  @Test("The only scenario opens at once, and the list of all is a click away")
  func onlyScenario() async throws {
    var trend = TrendExample.trend(scenarios: 1, length: 20)
    trend.series = [trend.series[0]]
    trend.findEvents()
    try await Browser.current.visit(TrendPage.text(trend), at: "", as: .desktop) { browser in
      try await browser.wait(for: "return document.querySelectorAll('.series:not(.closed) canvas').length > 0")
      try await browser.click(".series:not(.closed) a.back")
      try await browser.wait(for: "return document.querySelector('#overview').offsetParent !== null")
      #expect(try await names(browser).count == 1)
    }
  }

  @Test("Metrics that fail come first, and their start is an event with its time")
  func failingFirst() async throws {
    var trend = TrendExample.trend(scenarios: 1, length: 20)
    trend.series = [trend.series[0]]
    trend.findEvents()
    let metric = try #require(trend.series[0].metrics.lastIndex { $0.metric != .peakRSS })
    trend.series[0].metrics = trend.series[0].metrics.map { series in
      var series = series
      for index in series.points.indices { series.points[index]?.judgement?.verdict = .pass }
      return series
    }
    let last = trend.series[0].runs.count - 1
    let now = trend.series[0].metrics[metric].points[last]?.median ?? 0
    trend.series[0].metrics[metric].points[last]?.judgement = .init(
      verdict: .regression, baseline: nil, allowed: nil, limit: now / 2)
    let name = trend.series[0].metrics[metric].metric.text
    try await Browser.current.visit(TrendPage.text(trend), at: "", as: .desktop) { browser in
      try await browser.wait(for: "return document.querySelectorAll('.series:not(.closed) canvas').length > 0")
      let first: String = try await browser.evaluate("return document.querySelector('.figures figure').dataset.metric")
      #expect(first == name)
      let events = try await browser.text(".events")?.replacing("\u{a0}", with: " ") ?? ""
      #expect(events.contains("regression") && events.contains("\(name) ") && events.contains("above its limit of"))
      #expect(events.contains(#/20\d\d-\d\d-\d\d \d\d:\d\d/#))
    }
  }

  @Test("Hover shows the run: value, changes, commit, subject, branch, date and verdict")
  func hover() async throws {
    try await visit("scenario=redis-load&metric=peak_rss") { (browser: Browser) async throws -> Void in
      try await browser.hover(browser.place(in: Self.chart, x: 0.5))
      try await browser.settle()
      let text = try await readout(browser)
      #expect(text.contains(/Run (2[0-9]|3[0-9]) of 60/))
      for part in ["pass", "main", "peak_rss", "8.0\u{a0}MiB", "build", "2026-0"] {
        #expect(text.contains(part), "\(text)")
      }
    }
  }

  @Test("Arrows, Home and End select runs, and a screen reader announces the selected one")
  func chartKeys() async throws {
    try await visit("scenario=redis-load&metric=peak_rss") { (browser: Browser) async throws -> Void in
      try await focusChart(browser)
      try await browser.press(.home)
      #expect(try await readout(browser).contains("Run 1 of 60"))
      #expect(try await readout(browser).contains("approved by Ada Byron"))
      #expect(try await !readout(browser).contains("-dirty"))
      try await browser.press(.right)
      #expect(try await readout(browser).contains("Run 2 of 60"))
      #expect(try await readout(browser).contains("-dirty"), "it had uncommitted changes")
      let reported: String = try await browser.evaluate(
        "return document.querySelector(arguments[0]).ariaValueText", .text(Self.chart))
      #expect(reported.contains("peak_rss 8.0\u{a0}MiB") && reported.contains("vs. the run before"))
      try await browser.press(.end)
      #expect(try await readout(browser).contains("Run 60 of 60"))
    }
  }

  @Test("A step shows its size, p-value and cause")
  func step() async throws {
    try await visit("scenario=redis-load&metric=peak_rss") { (browser: Browser) async throws -> Void in
      try await focusChart(browser)
      try await browser.press(.home)
      for _ in 0..<36 { try await browser.press(.right) }
      let text = try await readout(browser)
      #expect(text.contains("Run 37 of 60") && text.contains("+3.0\u{a0}MiB"))
      #expect(text.contains("p = 0.000030; approved by Grace Hopper"))
    }
  }

  @Test("Enter pins a run, a second Enter gives the commit range to copy, and the link contains it")
  func pinAndCopy() async throws {
    try await visit("scenario=redis-load&metric=peak_rss") { (browser: Browser) async throws -> Void in
      try await browser.click(browser.place(in: Self.chart, x: 0.4))
      try await browser.wait(for: "return location.hash.includes('pin=')")
      #expect(try await readout(browser).contains("pinned"))
      try await browser.press(.right, .right, .right)
      #expect(try await readout(browser).contains("From the pinned run to this one"))
      let command: String = try await browser.evaluate(
        "return document.querySelector('.series:not(.closed) .command').textContent")
      #expect(command.wholeMatch(of: /git log --oneline [0-9a-f]{12}\.\.[0-9a-f]{12}/) != nil)
      try await browser.click(".series:not(.closed) .copy button")
      try await browser.wait(
        for: "return document.querySelector('.series:not(.closed) .copy button').textContent !== 'Copy'")
      #expect(try await browser.text(".series:not(.closed) .copy button") == "Copied")
      try await browser.press(.escape)
      try await browser.press(.escape)
      try await browser.wait(for: "return document.querySelector('#overview').offsetParent !== null")
      try await browser.type("/")
      try await browser.type("v", holding: .control)
      #expect(try await browser.evaluate("return document.querySelector('#q').value") == command)
    }
  }

  @Test("Without a clipboard the command is selected")
  func copyFallback() async throws {
    try await visit("scenario=redis-load&metric=peak_rss") { (browser: Browser) async throws -> Void in
      let _: Bool = try await browser.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined}); return true")
      try await browser.click(".series:not(.closed) .copy button")
      try await browser.wait(for: "return getSelection().toString().startsWith('git log')")
    }
  }

  @Test("A drag zooms all charts, the link restores it, and Escape or a double click shows the whole range")
  func zoom() async throws {
    let seen = "return document.querySelectorAll('.series:not(.closed) .tools button:not([hidden])').length === 1"
    try await visit("scenario=redis-load") { (browser: Browser) async throws -> Void in
      try await browser.drag(
        from: browser.place(in: Self.chart, x: 0.4, y: 0.5), to: browser.place(in: Self.chart, x: 0.7, y: 0.5))
      try await browser.wait(for: seen)
      let zoomed = try await fragment(browser)
      #expect(zoomed.contains("from=") && zoomed.contains("to="))
      #expect(try await readout(browser).contains("In this range"))
      try await browser.press(.escape)
      #expect(try await !fragment(browser).contains("from="))
      try await browser.open("about:blank")
      try await browser.back()
      let _: String = try await browser.evaluate("return location.hash = arguments[0]", .text(zoomed))
      try await browser.wait(for: seen)
      // On a busy machine two clicks may be too far apart for a double one.
      for _ in 0..<10 where try await fragment(browser).contains("from=") {
        try await browser.doubleClick(browser.place(in: Self.chart, x: 0.5, y: 0.5))
        try await Task.sleep(for: .seconds(1))
      }
      try await browser.wait(for: "return !location.hash.includes('from=')")
    }
  }

  @Test(
    "A link restores its view",
    arguments: [
      ("scenario=redis-load&env=linux-aarch64-4cpu-traced&branch=main", "redis-load", "linux-aarch64-4cpu-traced", 4),
      (
        "scenario=api-gateway-boot&branch=lru-cache&metric=steady_rss&x=date&scale=relative", "api-gateway-boot",
        "lru-cache", 1
      ),
      ("scenario=indexer-warm&metric=composition&zero=1", "indexer-warm", "main", 1),
    ]
  )
  func deepLinks(fragment: String, name: String, place: String, charts: Int) async throws {
    try await visit(fragment) { (browser: Browser) async throws -> Void in
      let shown = ".series:not(.closed)"
      #expect(try await browser.text("\(shown) h2")?.hasPrefix(name) == true)
      #expect(try await browser.text("\(shown) h2 + p")?.contains(place) == true)
      #expect(
        try await browser.evaluate(
          "return [...document.querySelectorAll('\(shown) .plot')].filter(plot => plot.offsetParent).length") == charts)
      for (name, value) in URLComponents(string: "?" + fragment)?.queryItems?.map({ ($0.name, $0.value) }) ?? []
      where ["metric", "x", "scale", "zero"].contains(name) {
        #expect(try await browser.evaluate("return document.querySelector('#tool-\(name)').value") == value)
      }
    }
  }

  @Test("A link to a removed scenario shows the overview and a message")
  func removedScenario() async throws {
    try await visit("scenario=long-gone") { (browser: Browser) async throws -> Void in
      #expect(try await names(browser).count == 13)
      #expect(try await browser.text("#announcer") == "no scenario has the name long-gone")
    }
  }

  @Test("The table of a chart has every run")
  func table() async throws {
    try await visit("scenario=redis-load&metric=peak_rss") { (browser: Browser) async throws -> Void in
      try await browser.click(".series:not(.closed) figure[data-metric=peak_rss] summary")
      let rows =
        "document.querySelectorAll('.series:not(.closed) figure[data-metric=peak_rss] details tbody tr').length"
      try await browser.wait(for: "return \(rows) === 60")
    }
  }
}
