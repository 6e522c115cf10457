import FoundationEssentials
package import GateCore

/// The runs of a history, one per line.
package enum HistoryReport {
  /// The table, with the latest run last.
  ///
  /// - Parameters:
  ///   - runs: In order of time.
  ///   - scenarios: If not empty, the verdict and the change refer to these scenarios instead of the whole run.
  ///   - style: The capabilities of the terminal.
  /// - Returns: the lines; empty if there are no runs.
  package static func text(_ runs: [RunSummary], of scenarios: [ScenarioName], style: TerminalStyle) -> String {
    guard !runs.isEmpty else { return "" }
    var page = TerminalPage(style)
    var table = Table(columns: [
      .init(title: "date (UTC)", side: .left), .init(title: "commit", side: .left), .init(title: "branch", side: .left),
      .init(title: "verdict", side: .left), .init(title: "scenarios"), .init(title: "peak"),
    ])
    let branchWidth = max(8, style.width - widthBesidesBranch - (runs.contains(where: \.run.isDirty) ? 6 : 0))
    table.rows = runs.map { row($0, of: scenarios, style, branchWidth: branchWidth) }
    table.write(to: &page, indent: 0)
    return page.text
  }

  /// The maximum width of a line without the branch; commits such as `4f2a91c0d` have 9 columns.
  private static let widthBesidesBranch = 64

  private static func row(
    _ run: RunSummary,
    of names: [ScenarioName],
    _ style: TerminalStyle,
    branchWidth: Int
  ) -> [Table.Cell] {
    let scenarios = names.isEmpty ? run.scenarios : run.scenarios.filter { names.contains($0.name) }
    let verdict = Verdict.combined(scenarios.map(\.verdict))
    let worst = scenarios.compactMap(\.peakChange).max { $0.magnitude < $1.magnitude }
    let branch = TerminalText.safe(run.run.branch ?? "-")
    return [
      Table.Cell(run.run.startedAt.minute),
      Table.Cell(TerminalText.safe(run.run.commitText() ?? "-")),
      Table.Cell(TerminalText.cut(branch, to: branchWidth, at: .middle, mark: style.ellipsis)),
      Table.Cell(verdict.rawValue, verdict.tone),
      Table.Cell("\(scenarios.count)"),
      Table.Cell(Format.percent(worst)),
    ]
  }
}

extension ScenarioSummary {
  /// The change of the peak in percent of its baseline; nil without a comparison.
  fileprivate var peakChange: Double? { self[.peakRSS]?.change?.percent }
}

extension Date {
  /// The minute in UTC, as in `2026-01-02 03:04`.
  fileprivate var minute: String {
    let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space).year().month().day()
    return String(formatted(style.time(includingFractionalSeconds: false)).prefix(16))
  }
}
