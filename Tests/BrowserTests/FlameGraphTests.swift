import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("The flame graph in a browser", .serialized, .inBrowser, .needsBrowser, .timeLimit(.minutes(60)))
struct FlameGraphTests {
  /// A page of a server that leaks in `remember`.
  private func comparison() throws -> ProfileComparison {
    func function(_ name: String) -> CallTree.Function { .init(module: "server", name: name) }
    func profile(_ leak: Int64) -> MemoryProfile {
      var calls = CallTree.Builder()
      let request = [function("main"), function("handle_request")]
      calls.add(.init(live: 3_400_000 - leak / 20), stack: request + [function("cache_put")])
      calls.add(.init(live: 200_000 + leak), stack: request + [function("remember")])
      calls.add(.init(touched: 4_194_304), stack: [function("main"), function("load_table")])
      return profileOf(calls.tree)
    }
    return try comparison([profile(0), profile(9)], [profile(30_000_000), profile(30_000_009)])
  }

  private func comparison(_ before: [MemoryProfile], _ now: [MemoryProfile]) throws -> ProfileComparison {
    ProfileComparison(before: ProfileSummary(before), now: try #require(ProfileSummary(now)))
  }

  private func profileOf(_ calls: CallTree) -> MemoryProfile {
    MemoryProfile(
      process: "server", method: .stopsAndBlocks, peak: .mebibytes(40),
      anonymous: Bytes(calls.total.live + calls.total.touched), calls: calls)
  }

  private func page(_ comparison: ProfileComparison) -> String {
    ExplainPage.text([Explanation(scenario: ScenarioName("requests"), comparison: comparison)])
  }

  private func reading(_ browser: Browser) async throws -> String {
    try await browser.text(".flame .reading")?.replacing("\u{a0}", with: " ") ?? ""
  }

  private func keepPicture(_ name: String, _ browser: Browser) async throws {
    guard let folder = ProcessInfo.processInfo.environment["HIGHWATER_SCREENSHOTS"] else { return }
    try await browser.screenshot(to: "\(folder)/\(name).png", isWhole: true)
  }

  @Test(
    "It is drawn in the page's width, light and dark",
    arguments: [("desk", Browser.View.desktop), ("dark", .dark), ("phone", .phone)])
  func drawn(name: String, view: Browser.View) async throws {
    try await Browser.current.visit(page(comparison()), as: view) { browser in
      try await browser.settle()
      #expect(try await browser.evaluate("return document.querySelector('.flame canvas').height >= 4 * 19"))
      #expect(try await browser.evaluate("return document.documentElement.scrollWidth <= innerWidth"))
      #expect(try await reading(browser) == "all: 30.6 MiB held, 100.0 %, +27.2 MiB since before")
      try await keepPicture("flame-\(name)", browser)
    }
  }

  @Test("Keys move between boxes, zoom, and tell screen readers where they are")
  func keys() async throws {
    try await Browser.current.visit(page(comparison())) { browser in
      #expect(try await browser.evaluate("document.querySelector('.flame .tree').focus(); return true"))
      try await browser.press(.down, .down, .down)
      #expect(try await reading(browser).hasPrefix("remember() (server): 28.8 MiB held, 94.1 %, +28.6 MiB"))
      let item = "return document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))"
      #expect(try await browser.evaluate("\(item).getAttribute('aria-label')", as: String.self).hasPrefix("remember()"))
      #expect(try await browser.evaluate("\(item).getAttribute('aria-level')") == "4")
      try await browser.press(.left)
      #expect(try await reading(browser).hasPrefix("cache_put()"))
      try await browser.press(.enter)
      #expect(try await browser.evaluate("return document.querySelector('figure.flame').flame.rows.flat().length") == 4)
      try await browser.press(.escape)
      #expect(try await reading(browser).hasPrefix("all:"))
    }
  }

  @Test("A click zooms, and a search tells what it found and how much that holds")
  func pointerAndSearch() async throws {
    try await Browser.current.visit(page(comparison())) { browser in
      try await browser.settle()
      try await browser.click(browser.place(in: ".flame canvas", x: 0.9, y: 0.8))
      #expect(try await reading(browser).hasPrefix("remember()"))
      try await browser.click(".flame input[type=search]")
      try await browser.type("CACHE")
      let found = try await browser.text(".flame [role=status]")?.replacing("\u{a0}", with: " ")
      #expect(found == "1 function matches: 1.8 MiB, 5.9 %")
    }
  }

  @Test("On the run page it is drawn when its scenario opens")
  func onRunPage() async throws {
    let html = RunPageExample(explanations: [ScenarioName("json-parse"): try comparison()]).html
    try await Browser.current.visit(html) { browser in
      let height = "return document.querySelector('.flame canvas')?.getBoundingClientRect().height ?? 0"
      #expect(try await browser.evaluate(height) == 0)
      try await browser.click("#scenario-3 > summary")
      try await browser.wait(for: "return (() => { \(height) })() === 4 * 19")
      #expect(try await browser.text("#scenario-3 .explained")?.contains("held by remember() (") == true)
      try await keepPicture("flame-run", browser)
    }
  }

  @Test("Of many stacks only those are drawn that can be seen")
  func manyStacks() async throws {
    var calls = CallTree.Builder()
    for stack in 0..<3000 {
      let names = (0..<6).map { level in "function_\(level)_\(stack % (1 << (level * 2)))" }
      calls.add(
        .init(live: Int64(4096 + stack % 97 * 512)),
        stack: (names + ["leaf_\(stack)"]).map { CallTree.Function(module: "server", name: $0) })
    }
    let html = try page(comparison([], [profileOf(calls.tree)]))
    try await Browser.current.visit(html) { browser in
      try await browser.settle()
      let counts: [Int] = try await browser.evaluate(
        """
        const { flame } = document.querySelector("figure.flame");
        return [flame.calls.names.length, flame.rows.flat().length];
        """)
      #expect(counts[0] > 4000 && counts[1] > 500 && counts[1] < 2 * 1280)
    }
  }
}
