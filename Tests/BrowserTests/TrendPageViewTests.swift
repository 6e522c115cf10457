import Foundation
import Testing

@testable import GateApplication
@testable import GateCore

/// The page without scripts, in print, on a phone and in dark mode, with hostile text, and its speed.
extension TrendPageTests {
  @Test("Without the chart library the static pictures stay, and everything else works")
  func withoutLibrary() async throws {
    let scripts = Self.page.components(separatedBy: "<script>")
    let library = try #require(scripts.firstIndex { $0.contains("danvk/dygraphs") })
    let page = scripts.enumerated().filter { $0.offset != library }.map(\.element).joined(separator: "<script>")
    try await Browser.current.visit(page, at: "scenario=redis-load") { (browser: Browser) async throws -> Void in
      let pictures = "[...document.querySelectorAll('.series:not(.closed) .picture svg')]"
      #expect(try await browser.evaluate("return \(pictures).filter(svg => svg.checkVisibility()).length") == 4)
      try await browser.click(".series:not(.closed) .readout [aria-label='the run before']")
      #expect(try await readout(browser).contains("Run 59 of 60"))
      try await browser.press(.escape)
      try await browser.type("/parser")
      #expect(try await names(browser) == ["parser-large-file", "parser-large-file"])
    }
  }

  @Test("Without scripts all scenarios are on the page, with pictures and tables")
  func withoutScripts() async throws {
    try await visit(as: .withoutScripts) { (browser: Browser) async throws -> Void in
      let shown = "[...document.querySelectorAll('.series')].filter(section => section.offsetParent)"
      #expect(try await browser.evaluate("return \(shown).length") == 13)
      #expect(
        try await browser.evaluate("return \(shown).every(section => section.querySelector('svg.chart path.blue'))"))
      #expect(
        try await browser.evaluate("return [...document.querySelectorAll('.needs-script')].every(e => !e.offsetParent)")
      )
      #expect(try await browser.text("#series-0 .events")?.contains("unexplained rise") == true)
    }
  }

  @Test("A single run has an axis around it, with its commit or its date", arguments: ["order", "date"])
  func singleRun(axis: String) async throws {
    let start = Date(timeIntervalSince1970: 1_767_323_045)
    let run = RunInfo(id: "1", startedAt: start, commit: "4f2a91c0d", branch: "main")
    let point = MetricSeries.Point(median: 104_857_600, low: 104_857_600, high: 104_857_600)
    let series = ScenarioSeries(
      name: ScenarioName("load"), environment: "linux", branch: "main", runCount: 1,
      runs: [.init(index: 0, verdict: .pass)],
      metrics: [MetricSeries(metric: .peakRSS, unit: "bytes", points: [point])])
    let page = TrendPage.text(Trend(createdAt: start, runs: [run], runCount: 1, series: [series]))
    try await Browser.current.visit(page, at: "scenario=load&x=\(axis)") { (browser: Browser) async throws -> Void in
      let labels: String = try await browser.evaluate(
        "return [...document.querySelectorAll('.dygraph-axis-label-x')].map(e => e.textContent).join()")
      #expect(labels.contains(axis == "date" ? "01-02 0" : "4f2a91c0d"), "\(labels)")
    }
  }

  @Test("In print a scenario has its pictures, the overview has all rows, and there are no controls")
  func print() async throws {
    let pictures =
      "return [...document.querySelectorAll('svg.chart')].filter(svg => svg.checkVisibility()).length"
    try await visit("scenario=redis-load", as: .print) { (browser: Browser) async throws -> Void in
      #expect(try await browser.evaluate(pictures) == 4)
      #expect(
        try await browser.evaluate(
          "return [...document.querySelectorAll('select, canvas')].every(e => !e.offsetParent)"))
    }
    try await visit(as: .print) { (browser: Browser) async throws -> Void in
      let _: Bool = try await browser.evaluate("return dispatchEvent(new Event('beforeprint'))")
      let count: Int = try await browser.evaluate(pictures)
      #expect(count > 40)
    }
  }

  @Test(
    "No width makes the page scroll sideways", arguments: ["", "scenario=redis-load", "scenario=parser-large-file"])
  func widths(fragment: String) async throws {
    for view in [Browser.View.phone, .print, .init(width: 600), .init(width: 800), .init(width: 1024), .desktop] {
      try await visit(fragment, as: view) { (browser: Browser) async throws -> Void in
        #expect(try await browser.evaluate("return document.documentElement.scrollWidth") == view.width)
      }
    }
  }

  @Test("Text has enough contrast, in light and dark mode", arguments: [Browser.View.desktop, .dark])
  func contrast(view: Browser.View) async throws {
    try await visit(as: view) { (browser: Browser) async throws -> Void in
      let least: Double = try await browser.evaluate(
        """
        const style = getComputedStyle(document.documentElement);
        const light = name => {
          const n = parseInt(style.getPropertyValue(name).trim().slice(1), 16);
          const [r, g, b] = [n >> 16, n >> 8 & 255, n & 255].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const inks = ["--text", "--quiet", "--link", "--orange", "--green", "--red"];
        return Math.min(...inks.flatMap(ink => ["--ground", "--raised"].map(ground => ratio(light(ink), light(ground)))));
        """)
      #expect(least >= 4.5)
    }
  }

  // MARK: Hostile texts

  @Test(
    "Hostile text in any field is shown as text",
    arguments: [
      "</script><img src=x onerror=alert(1)>", "\"><svg onload=document.title='owned'>", "{{x}}{{{data}}}",
      "javascript:document.title='owned'", "\u{202e}gnp.exe\u{2066}", String(repeating: "long ", count: 2000),
      "' onmouseover='document.title=1", "<!--<script>", "$(reboot)`reboot`",
    ]
  )
  func hostile(text: String) async throws {
    let page = TrendPage.text(TrendExample.hostile(text))
    for view in [Browser.View.desktop, .withoutScripts] {
      try await Browser.current.visit(page, as: view) { (browser: Browser) async throws -> Void in
        #expect(try await browser.evaluate("return document.title") == "Memory trend")
        #expect(try await browser.evaluate("return document.querySelectorAll('img, iframe, object').length") == 0)
        let links: [String] = try await browser.evaluate(
          "return [...document.querySelectorAll('a')].map(a => a.protocol)")
        #expect(Set(links).isSubset(of: ["file:", "https:"]))
        let shown = try await browser.text("#scenarios") ?? ""
        if text.allSatisfy(\.isASCII), text.count < 200 { #expect(shown.contains(text)) }
        #expect(!shown.contains("\u{202e}"))
        guard view.runsScripts else { return }
        try await browser.click("#scenarios tbody tr:first-child a")
        try await browser.wait(for: "return document.querySelectorAll('.series:not(.closed) canvas').length > 0")
        try await browser.hover(browser.place(in: Self.firstChart, x: 0.3))
        try await browser.settle()
        #expect(try await browser.evaluate("return document.querySelectorAll('.readout .command').length") == 0)
        #expect(try await browser.evaluate("return document.querySelectorAll('img, iframe, object').length") == 0)
        #expect(try await browser.evaluate("return document.documentElement.scrollWidth") == 1280)
      }
    }
  }

  static let firstChart = ".series:not(.closed) .plot"

  // MARK: Speed

  @Test("A large history does not block the browser")
  func speed() async throws {
    let page = TrendPage.text(TrendExample.trend(scenarios: 20, length: 500))
    try await Browser.current.visit(page) { (browser: Browser) async throws -> Void in
      // On a busy machine the page is loaded before it is painted.
      try await browser.wait(for: "return performance.getEntriesByName('first-contentful-paint').length > 0")
      let paint: Double = try await browser.evaluate(
        "return performance.getEntriesByName('first-contentful-paint')[0].startTime")
      try await browser.click("#scenarios tbody tr:first-child a")
      try await browser.wait(for: "return document.querySelectorAll('.series:not(.closed) canvas').length > 0")
      let hover: Double = try await browser.evaluate(
        """
        const plot = document.querySelector(arguments[0]), box = plot.getBoundingClientRect();
        const canvas = [...plot.querySelectorAll("canvas")].at(-1);
        const start = performance.now(), count = 50;
        for (let i = 0; i < count; i++) canvas.dispatchEvent(new MouseEvent("mousemove",
          {bubbles: true, clientX: box.x + 100 + i * (box.width - 120) / count, clientY: box.y + 50}));
        return (performance.now() - start) / count;
        """, .text(Self.firstChart))
      Swift.print("first paint \(Int(paint)) ms, hover \(hover.formatted(.number.precision(.fractionLength(2)))) ms")
      #expect(paint > 0 && hover > 0)
    }
  }
}
