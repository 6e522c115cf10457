import Foundation
import Testing

@testable import GateApplication

@Suite("The run page in a browser", .serialized, .inBrowser, .needsBrowser, .timeLimit(.minutes(60)))
struct RunPageTests {
  private let page = RunPageExample().html

  /// The page's first curve, which belongs to the regression.
  private let plot = "#scenario-1 .plot"

  private func reading(_ browser: Browser) async throws -> String {
    try await browser.text("#scenario-1 .reading")?.replacing("\u{a0}", with: " ") ?? ""
  }

  /// Writes screenshots if `HIGHWATER_SCREENSHOTS` names a folder.
  private func keepPicture(_ name: String, _ browser: Browser) async throws {
    guard let folder = ProcessInfo.processInfo.environment["HIGHWATER_SCREENSHOTS"] else { return }
    try await browser.screenshot(to: "\(folder)/\(name).png", isWhole: true)
  }

  @Test(
    "Failures are open with their curves, and the pass is closed",
    arguments: [("desk", Browser.View.desktop), ("dark", .dark), ("phone", .phone)]
  )
  func opensFailures(name: String, view: Browser.View) async throws {
    try await Browser.current.visit(page, as: view) { browser in
      #expect(
        try await browser.evaluate("return [...document.querySelectorAll('details.scenario')].map(d => d.open)") == [
          true, true, false,
        ])
      #expect(try await browser.evaluate("return document.querySelectorAll('.plot canvas').length > 0"))
      #expect(
        try await browser.evaluate(
          "return [...document.querySelectorAll('.static')].slice(0, 2).every(s => s.offsetHeight === 0)"))
      #expect(try await browser.evaluate("return document.documentElement.scrollWidth <= innerWidth"))
      try await keepPicture("run-\(name)", browser)
    }
  }

  @Test("On a phone the change and the verdict of a regression need no scrolling")
  func changeOnPhone() async throws {
    try await Browser.current.visit(page, as: .phone) { browser in
      let ends: [Double] = try await browser.evaluate(
        """
        return [...document.querySelectorAll('#scenario-1 .comparison td.bad')].filter(c => c.checkVisibility())
          .map(c => c.getBoundingClientRect().right)
        """)
      #expect(ends.count >= 2 && ends.allSatisfy { $0 > 0 && $0 <= 390 }, "\(ends)")
      let shown: [String] = try await browser.evaluate(
        """
        return [...document.querySelectorAll('#scenario-1 .comparison th')].filter(c => c.checkVisibility()
          && c.getBoundingClientRect().right <= 390).map(c => c.textContent)
        """)
      #expect(shown.prefix(3) == ["metric", "baseline", "now"])
    }
  }

  @Test(
    "Without scripts and in print there are static pictures and no controls",
    arguments: [
      ("print", Browser.View.print), ("noscript", .withoutScripts),
    ])
  func staticPictures(name: String, view: Browser.View) async throws {
    try await Browser.current.visit(page, as: view) { browser in
      #expect(
        try await browser.evaluate(
          "return document.querySelector('#scenario-1 .static svg').getBoundingClientRect().height > 100"))
      #expect(
        try await browser.evaluate(
          "return [...document.querySelectorAll('.live, button')].every(e => e.getBoundingClientRect().height === 0)"))
      #expect(try await browser.text("#scenario-1 .static")?.contains("The peak") == true)
      try await keepPicture("run-\(name)", browser)
    }
  }

  @Test("Without the chart library the static pictures stay, and commands can be copied")
  func withoutLibrary() async throws {
    var parts = page.components(separatedBy: "<script>")
    // The library is the first script.
    #expect(parts.remove(at: 1).contains("Dygraph"))
    try await Browser.current.visit(parts.joined(separator: "<script>")) { browser in
      try await browser.settle()
      #expect(try await browser.evaluate("return document.querySelector('#scenario-1 .static').offsetHeight > 100"))
      #expect(try await browser.evaluate("return document.querySelector('#scenario-1 .copy').offsetHeight > 10"))
      #expect(try await browser.evaluate("return document.querySelectorAll('canvas').length") == 0)
    }
  }

  @Test("The arrow keys move along the curve and show time, amount, phase, tree and baseline")
  func keyboard() async throws {
    try await Browser.current.visit(page) { browser in
      let _: Bool = try await browser.evaluate("document.querySelector(arguments[0]).focus(); return true", .text(plot))
      try await browser.press(.home)
      #expect(try await reading(browser).hasPrefix("0.000 s: 2.0 MiB"))
      try await browser.press(.end)
      #expect(try await reading(browser).hasPrefix("1.090 s: 23.3 MiB"))
      try await browser.press(.left, .home, .right, .right, .right)
      let reported = try await reading(browser)
      #expect(
        reported.hasPrefix("0.030 s") && reported.contains("phase load") && reported.contains("tree ")
          && reported.contains("baseline ")
      )
      try await browser.press(.escape)
      #expect(try await reading(browser).hasPrefix("Repetition 3"))
    }
  }

  @Test("The pointer shows the reading below it, a drag zooms, and `Show all` restores the range")
  func pointer() async throws {
    try await Browser.current.visit(page) { browser in
      try await browser.hover(browser.place(in: plot, x: 0.8))
      #expect(try await reading(browser).contains("phase serve"))
      let fullRange = try await ticks(browser)
      try await browser.drag(from: browser.place(in: plot, x: 0.3), to: browser.place(in: plot, x: 0.5))
      #expect(try await ticks(browser) != fullRange)
      let all = try await browser.place(in: "#scenario-1 .whole")
      try await browser.click(all)
      #expect(try await ticks(browser) == fullRange)
    }
  }

  private func ticks(_ browser: Browser) async throws -> [String] {
    try await browser.evaluate(
      "return [...document.querySelectorAll(arguments[0] + ' .dygraph-axis-label-x')].map(e => e.textContent)",
      .text(plot))
  }

  @Test("Another repetition can be selected by click and by arrow keys")
  func repetitions() async throws {
    try await Browser.current.visit(page) { browser in
      try await browser.click("#scenario-1 .choices label:nth-of-type(1)")
      #expect(try await browser.text("#scenario-1 .which") == "1")
      #expect(try await reading(browser).hasPrefix("Repetition 1, peak 22.8 MiB"))
      try await browser.press(.right)
      #expect(try await browser.text("#scenario-1 .which") == "2")
      let _: Bool = try await browser.evaluate("document.querySelector(arguments[0]).focus(); return true", .text(plot))
      try await browser.press(.end)
      #expect(try await reading(browser).hasPrefix("1.090 s: 23.3 MiB"))
    }
  }

  @Test("A button copies a command, from a file and without a network")
  func copies() async throws {
    try await Browser.current.visit(page + "<textarea id=\"paste\"></textarea>") { browser in
      try await browser.click("#scenario-1 .command:nth-of-type(2) .copy")
      try await browser.wait(
        for: "return document.querySelector('#scenario-1 .command:nth-of-type(2) .copy').textContent === 'Copied'")
      try await browser.click("#paste")
      try await browser.type("v", holding: .control)
      #expect(
        try await browser.evaluate("return document.querySelector('#paste').value", as: String.self)
          == "highwater approve --reason 'why it is intended' --from .highwater/result.json redis-load")
    }
  }

  @Test("A link into the page opens its section")
  func deepLink() async throws {
    try await Browser.current.visit(page, at: "scenario-3") { browser in
      try await browser.settle()
      #expect(try await browser.evaluate("return document.querySelector('#scenario-3').open"))
      #expect(try await browser.evaluate("return document.querySelector('#scenario-3 canvas') !== null"))
    }
  }

  @Test("Markup in any field is shown as text", arguments: [Browser.View.desktop, .withoutScripts])
  func hostileText(view: Browser.View) async throws {
    let hostile = RunPageExample(userText: RunPageExample.hostileText).html
    try await Browser.current.visit(hostile, as: view) { browser in
      #expect(try await browser.evaluate("return document.querySelectorAll('img, [onerror], [onload]').length") == 0)
      #expect(try await browser.evaluate("return document.title !== 'ran'"))
      let shown: Int = try await browser.evaluate(
        "for (const d of document.querySelectorAll('details')) d.open = true; return document.body.innerText.split('onerror=').length - 1"
      )
      #expect(shown > 30)
    }
  }
}
