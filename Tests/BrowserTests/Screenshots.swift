import Foundation
import Testing

@testable import GateApplication

private let screenshotFolder = ProcessInfo.processInfo.environment["HIGHWATER_SCREENSHOTS"]

/// Screenshots of the pages: run the test `Screenshots` with `HIGHWATER_SCREENSHOTS=FOLDER`.
@Suite(
  "Screenshots", .serialized, .inBrowser, .needsBrowser, .timeLimit(.minutes(60)),
  .enabled(if: screenshotFolder != nil, "HIGHWATER_SCREENSHOTS is not set")
)
struct Screenshots {
  @Test(
    "The trend page",
    arguments: [
      ("overview", "", Browser.View.desktop), ("overview-dark", "", .dark), ("overview-phone", "", .phone),
      ("step", "scenario=api-gateway-boot", .desktop),
      ("approved", "scenario=redis-load&metric=peak_rss", .desktop), ("approved-dark", "scenario=redis-load", .dark),
      ("date", "scenario=indexer-cold&x=date&scale=relative", .desktop),
      ("creep", "scenario=postgres-bulk-insert&metric=peak_rss", .desktop),
      ("crash-phone", "scenario=parser-large-file", .phone),
      ("crash", "scenario=parser-large-file", .desktop),
      ("composition", "scenario=redis-load&metric=composition&zero=1", .desktop),
      ("values", "scenario=redis-expire", .desktop), ("values-dark", "scenario=redis-expire", .dark),
      ("values-one", "scenario=redis-expire&metric=value.cache.entries", .desktop),
      ("values-relative", "scenario=redis-expire&metric=value.cache.entries&scale=relative", .dark),
      ("print-scenario", "scenario=redis-load", .print), ("print", "", .print), ("no-scripts", "", .withoutScripts),
    ]
  )
  func trend(name: String, fragment: String, view: Browser.View) async throws {
    let folder = try #require(screenshotFolder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let page = TrendPage.text(TrendExample.trend())
    try page.write(toFile: folder + "/trend.html", atomically: true, encoding: .utf8)
    try await Browser.current.visit(page, at: fragment, as: view) { browser in
      if view.runsScripts { try await browser.settle() }
      try await browser.screenshot(to: "\(folder)/\(name).png")
    }
  }
}
