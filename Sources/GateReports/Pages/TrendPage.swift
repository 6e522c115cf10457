import Dispatch
import FoundationEssentials
package import GateCore
import Synchronization

/// The history as one HTML file: an overview of all scenarios, and each one's memory from run to run.
///
/// All of it stands in the markup, with static pictures; the scripts make of it one view at a time, with charts that
/// answer to pointer and keyboard, from the same values in the element `data`.
package enum TrendPage {
  package static func text(_ trend: Trend) -> String {
    let trend = trend.withoutAbsurdFigures
    let courses = trend.courses.indices.map { TrendCourse(trend: trend, index: $0) }
    let states = courses.map(\.state)
    // The markup and what the scripts work on are about as much to write, so they are written side by side.
    let texts = Mutex((body: "", data: ""))
    DispatchQueue.concurrentPerform(iterations: 2) { part in
      if part == 0 {
        let text = Self.body(of: courses, in: trend)
        texts.withLock { $0.body = text }
      } else {
        let text = TrendData.text(trend, states: states)
        texts.withLock { $0.data = text }
      }
    }
    let (body, data) = texts.withLock { $0 }
    return HTMLPage(
      title: "Memory trend",
      body: body,
      styles: [PageText.chartStyle, PageText.named("page.css"), PageText.named("trend.css")].compactMap(\.self),
      scripts: [PageText.chartScript, PageText.named("charts.js"), script].compactMap(\.self),
      data: data
    ).text()
  }

  private static func body(of courses: [TrendCourse], in trend: Trend) -> String {
    // What to look at now comes first, with scripts and without.
    let shown = courses.sorted { ($0.state, $0.index) < ($1.state, $1.index) }
    return PageTemplate.trend.render([
      "summary": summary(of: courses, in: trend),
      "tags": Set(trend.courses.flatMap(\.tags)).sorted().map(PageWords.shown),
      "environments": Set(trend.courses.map(\.environment)).sorted().map(PageWords.shown),
      "branches": Set(trend.courses.compactMap(\.branch)).sorted().map(PageWords.shown),
      "states": Set(courses.map(\.state)).sorted().map(\.words),
      "courses": shown.map(\.values),
      "madeAt": trend.madeAt.formatted(.iso8601),
      "version": "\(Tool.name) \(Tool.version)",
      "hiddenBranches": trend.hiddenBranches == 0
        ? [] : [Format.count(trend.hiddenBranches, "more branch", plural: "more branches")],
      "hasCharts": PageText.chartScript != nil,
    ])
  }

  /// The parts of the page's script, which share their names with each other and with nothing else.
  private static let script: String = {
    let parts = ["view", "overview", "scenario", "marks", "run", "start"].map { PageText.named("trend-\($0).js") }
    return "\"use strict\";\n{\n" + parts.joined(separator: "\n") + "}\n"
  }()

  /// As in `20 scenarios, 3 to look at now; 512 runs from 2026-01-02 to 2026-11-20`.
  private static func summary(of courses: [TrendCourse], in trend: Trend) -> String {
    let names = Set(trend.courses.map(\.name)).count
    let open = courses.count { $0.state.needsLook }
    let look = open == 0 ? "nothing to look at now" : "\(open) to look at now"
    let days = [trend.runs.first, trend.runs.last].compactMap { $0?.startedAt.day }
    let span = days.isEmpty ? "" : days[0] == days[1] ? " on \(days[0])" : " from \(days[0]) to \(days[1])"
    let shown = trend.runs.count < trend.runCount ? ", \(trend.runs.count) of them shown" : ""
    return "\(Format.count(names, "scenario")), \(look); \(Format.count(trend.runCount, "run"))\(span)\(shown)"
  }
}

extension Trend {
  /// Without points that no program can have had, since pictures have no place for them.
  fileprivate var withoutAbsurdFigures: Trend {
    func isPossible(_ value: Double) -> Bool { value.magnitude <= Double(Bytes.largest.count) }
    var trend = self
    for course in courses.indices {
      for metric in courses[course].metrics.indices {
        for (place, point) in courses[course].metrics[metric].points.enumerated() {
          let judged = [point?.judgement?.baseline, point?.judgement?.change, point?.judgement?.allowed]
          guard let point, ([point.median, point.low, point.high] + judged.compactMap(\.self)).allSatisfy(isPossible)
          else {
            trend.courses[course].metrics[metric].points[place] = nil
            continue
          }
        }
      }
    }
    return trend
  }
}

extension PageTemplate {
  static let trend = PageTemplate("trend")
}

/// Strangers' texts as a page shows them.
enum PageWords {
  /// More than a person reads in a table; what is longer loses its middle.
  private static let most = 240

  /// Without what is invisible or changes the direction of writing, and of bounded length.
  static func shown(_ text: String) -> String {
    let bytes = text.utf8
    if bytes.count <= most, bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
    let cut = text.unicodeScalars.count > most * 8 ? String(text.prefix(most * 4)) + "…" : text
    return TerminalText.cut(TerminalText.safe(cut), to: most, at: .middle, mark: "…")
  }

  /// An address that a link may have: http or https, and nothing in it that an address does not have.
  static func link(_ address: String?) -> String? {
    guard let address, address.utf8.count <= 2000, address.utf8.allSatisfy({ (0x21..<0x7f).contains($0) }) else {
      return nil
    }
    let start = address.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://") ? address : nil
  }

  /// Where a commit can be read; nil for one that is not written as commits are.
  static func link(toCommit commit: String?, by links: BuildLinks) -> String? {
    guard let template = link(links.commit), let commit, PlainName.isValid(commit) else { return nil }
    return template.replacing("{commit}", with: commit)
  }
}
