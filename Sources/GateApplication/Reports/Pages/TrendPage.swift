import FoundationEssentials
import GateCore

/// The trend as one HTML file: an overview of all scenarios, and each one's memory over runs.
///
/// The markup is complete, with static charts. The scripts show one view at a time, with interactive charts of the same
/// values, which are in the element `data`.
enum TrendPage {
  static func text(_ trend: Trend) -> String {
    let trend = trend.withoutImpossibleValues
    let counts = trend.events.map(\.scenarios.count)
    let sharers = trend.eventsOfSteps.mapValues { counts[$0] }
    let sections = trend.series.indices.map { TrendSection(number: $0, of: trend, sharers: sharers) }
    return HTMLPage(
      title: "Memory trend",
      body: body(sections, of: trend),
      styles: [PageText.chartStyle, PageText.named("page.css"), PageText.named("trend.css")].compactMap(\.self),
      scripts: [PageText.chartScript, PageText.named("charts.js"), script].compactMap(\.self),
      data: TrendData(trend, states: sections.map(\.state)).json
    ).text()
  }

  /// The scripts draw the charts of the others.
  private static let mostPictured = 100

  private static func body(_ sections: [TrendSection], of trend: Trend) -> String {
    // The most urgent first, with and without scripts.
    var shown = sections.map { (section: $0, name: PageWords.naturalKey($0.series.name.text)) }
      .sorted { ($0.section.state, $0.name, $0.section.number) < ($1.section.state, $1.name, $1.section.number) }
      .map(\.section)
    if PageText.chartScript != nil {
      for index in shown.indices.dropFirst(mostPictured) { shown[index].hasPictures = false }
    }
    let series = shown.map(\.values)
    /// Whether any row of the overview has a value in this column.
    func isUsed(_ column: String) -> Bool { series.contains { !["", "–"].contains($0[column] as? String) } }
    let values: [String: Any] = [
      "summary": summary(of: sections, in: trend),
      "hasPeak": isUsed("peak"), "hasPeakChange": isUsed("peakChange"), "hasSteady": isUsed("steady"),
      "hasSteadyChange": isUsed("steadyChange"), "hasShift": isUsed("lastShiftWhen"),
      "tags": Set(trend.series.flatMap(\.tags)).sorted().map(PageWords.shown),
      "environments": Set(trend.series.map(\.environment)).sorted().map(PageWords.shown),
      "branches": Set(trend.series.compactMap(\.branch)).sorted().map(PageWords.shown),
      "states": Set(sections.map(\.state)).sorted().map(\.display.text),
      "series": series,
      "createdAt": trend.createdAt.formatted(.iso8601),
      "version": "\(Tool.name) \(Tool.version)",
      "hiddenBranches": trend.hiddenBranches == 0
        ? [] : [Format.count(trend.hiddenBranches, "branch", plural: "branches")],
      "olderRuns": trend.olderRuns == 0 ? [] : [Format.count(trend.olderRuns, "older run")],
      "hasCharts": PageText.chartScript != nil,
    ]
    return PageTemplate.trend.render(values.merging(EventSection(trend: trend).values) { first, _ in first })
  }

  /// The page's script, in its own scope.
  private static let script: String = {
    let parts = ["view", "overview", "scenario", "marks", "run", "start"].map { PageText.named("trend-\($0).js") }
    return "\"use strict\";\n{\n" + parts.joined(separator: "\n") + "}\n"
  }()

  /// As in `20 scenarios, 3 need attention; 512 runs from 2026-01-02 to 2026-11-20`.
  private static func summary(of sections: [TrendSection], in trend: Trend) -> String {
    let names = Set(trend.series.map(\.name)).count
    let urgent = Set(zip(trend.series, sections).filter { $1.state.needsAttention }.map(\.0.name)).count
    let attention = urgent == 1 ? "1 needs attention" : "\(urgent == 0 ? "none" : "\(urgent)") need attention"
    let period = period(from: trend.runs.first, to: trend.runs.last)
    let all = Format.count(trend.runCount, "run")
    let runs = trend.olderRuns == 0 ? all : "the latest \(trend.runCount - trend.olderRuns) of \(all),"
    return "\(Format.count(names, "scenario")), \(attention); \(runs)\(period)"
  }

  /// As in ` from 2026-01-02 to 2026-11-20`, to be appended.
  static func period(from first: RunInfo?, to last: RunInfo?) -> String {
    guard let first = first?.startedAt.day, let last = last?.startedAt.day else { return "" }
    return first == last ? " on \(first)" : " from \(first) to \(last)"
  }
}

extension Trend {
  /// Without values that no program can have and no axis can show.
  fileprivate var withoutImpossibleValues: Trend {
    var trend = self
    for series in series.indices {
      for metric in trend.series[series].metrics.indices {
        trend.series[series].metrics[metric].points = trend.series[series].metrics[metric].points.map { point in
          point.flatMap { $0.isPossible ? $0 : nil }
        }
      }
    }
    return trend
  }
}

extension MetricSeries.Point {
  fileprivate var isPossible: Bool {
    func isPossible(_ value: Double) -> Bool { value.magnitude <= Double(Bytes.largest.count) }
    return isPossible(median) && isPossible(low) && isPossible(high) && isPossible(judgement?.baseline ?? 0)
      && isPossible(judgement?.allowed ?? 0)
  }
}

extension PageTemplate {
  static let trend = PageTemplate("trend")
}

/// Texts of files and targets in the form in which a page shows them.
enum PageWords {
  /// The maximum width of a text in columns; a longer one is cut in the middle.
  private static let most = 240

  /// Without invisible and bidirectional characters, and of limited length.
  static func shown(_ text: String) -> String {
    let bytes = text.utf8
    if bytes.count <= most, bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
    let cut = text.unicodeScalars.count > most * 8 ? String(text.prefix(most * 4)) + "…" : text
    return TerminalText.cut(TerminalText.safe(cut), to: most, at: .middle, mark: "…")
  }

  /// The text as HTML that breaks after the separators of long names, neither within words nor before a number, by which
  /// similar names differ.
  static func breakable(_ text: String) -> String {
    SVGText.escaped(shown(text)).reduce(into: "") { html, character in
      if let last = html.last, "/_.:-".contains(last), !character.isNumber { html += "<wbr>" }
      html.append(character)
    }
  }

  /// A key that sorts the numbers in names by size, as in `load-2` before `load-10`: each follows its number of digits.
  static func naturalKey(_ name: String) -> String {
    name.replacing(/[0-9]+/) { number in
      let digits = number.output.drop { $0 == "0" }
      return "\(min(digits.count, 9))\(digits)"
    }
  }

  /// The address if it can be a link: http or https, with printable ASCII characters only.
  static func link(_ address: String?) -> String? {
    guard let address, address.utf8.count <= 2000, address.utf8.allSatisfy({ (0x21..<0x7f).contains($0) }) else {
      return nil
    }
    let start = address.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://") ? address : nil
  }

  /// The address of a commit; nil if the commit is not a plain name.
  static func link(toCommit commit: String?, by links: BuildLinks) -> String? {
    guard let template = link(links.commit), let commit, PlainName.isValid(commit) else { return nil }
    return template.replacing("{commit}", with: commit)
  }
}
