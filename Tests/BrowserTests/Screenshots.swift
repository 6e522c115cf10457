import Foundation
import GateReports
import Testing

private let screenshotFolder = ProcessInfo.processInfo.environment["HIGHWATER_SCREENSHOTS"]

/// Screenshots of the pages: `HIGHWATER_SCREENSHOTS=FOLDER swift test --filter Screenshots`.
@Suite(
  "Screenshots", .serialized, .inBrowser, .needsBrowser, .timeLimit(.minutes(10)),
  .enabled(if: screenshotFolder != nil, "HIGHWATER_SCREENSHOTS names no folder")
)
struct Screenshots {
  @Test(
    "The trend page",
    arguments: [
      ("overview", "", Browser.View.desk), ("overview-dark", "", .dark), ("overview-phone", "", .phone),
      ("step", "scenario=api-gateway-boot", .desk),
      ("approved", "scenario=redis-load&metric=peak_rss", .desk), ("approved-dark", "scenario=redis-load", .dark),
      ("date", "scenario=indexer-cold&x=date&scale=relative", .desk),
      ("creep", "scenario=postgres-bulk-insert&metric=peak_rss", .desk),
      ("crash-phone", "scenario=parser-large-file", .phone),
      ("crash", "scenario=parser-large-file", .desk),
      ("composition", "scenario=redis-load&metric=composition&zero=1", .desk),
      ("values", "scenario=redis-expire", .desk), ("values-dark", "scenario=redis-expire", .dark),
      ("values-one", "scenario=redis-expire&metric=value.cache.entries", .desk),
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
