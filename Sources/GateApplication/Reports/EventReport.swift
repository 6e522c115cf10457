import FoundationEssentials
import GateCore

/// The events of a history, one per line, or with commands to copy.
enum EventReport {
  /// The table, with the latest event last, as ``HistoryReport`` lists runs.
  ///
  /// - Parameters:
  ///   - events: The newest first.
  ///   - isDetailed: Whether each event is a paragraph with its largest changes and commands.
  ///   - style: The capabilities of the terminal.
  /// - Returns: the lines; empty if there are no events.
  static func text(_ events: [TrendEvent], isDetailed: Bool, style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    guard !isDetailed else {
      for event in events.reversed() {
        page.gap()
        write(event, to: &page)
      }
      return page.text
    }
    var table = Table(columns: [
      .init(title: "date (UTC)", side: .left), .init(title: "event", side: .left),
      .init(title: "branch", side: .left), .init(title: "kind", side: .left), .init(title: "median", side: .right),
      .init(title: "scenarios", side: .left), .init(title: "cause", side: .left),
    ])
    table.flexible = 6
    func widest(_ text: (TrendEvent) -> String) -> Int { events.map { TerminalText.columns(text($0)) }.max() ?? 0 }
    let rest = style.width - widthBesidesTexts - widest(\.id) - widest(\.kind.rawValue)
    let branch = min(max("branch".count, rest / 3), widest(\.branchText))
    let scope = max(shortestScope, min(longestScope, rest - max("branch".count, branch)))
    table.rows = events.reversed().map { row($0, style, branchWidth: branch, scopeWidth: scope) }
    table.write(to: &page, indent: 0, limits: [.max, leastCause])
    return page.text
  }

  private static let leastCause = 12
  /// As wide as the title, and as `120 of 120`.
  private static let (shortestScope, longestScope) = (10, 20)
  /// The date, the percentage, the shortest cause and the gaps.
  private static let widthBesidesTexts = 10 + 8 + leastCause + 12
  /// Of an event with many scenarios, the largest changes are named.
  private static let mostChanges = 5

  private static func row(
    _ event: TrendEvent, _ style: TerminalStyle, branchWidth: Int, scopeWidth: Int
  ) -> [Table.Cell] {
    let scope = event.scenarios.count > 1 ? "\(event.scenarios.count) of \(event.measured)" : event.scopeText
    func cut(_ text: String, _ width: Int) -> Table.Cell {
      Table.Cell(TerminalText.cut(text, to: width, at: .middle, mark: style.ellipsis))
    }
    return [
      Table.Cell(event.start.startedAt.day),
      Table.Cell(TerminalText.safe(event.id)),
      cut(event.branchText, branchWidth),
      Table.Cell(event.kind.rawValue, event.tone),
      Table.Cell(Format.percent(event.medianPercent)),
      cut(TerminalText.safe(scope), scopeWidth),
      Table.Cell(TerminalText.safe(event.shortCauseText)),
    ]
  }

  private static func write(_ event: TrendEvent, to page: inout TerminalPage) {
    page.paragraph(
      TerminalText.safe(event.displayText), indent: 0, label: "\(TerminalText.safe(event.id))  ", tone: event.tone)
    // Of creep no commit is the cause.
    let subject = event.kind == .creep ? nil : event.after.subject.map { ": \(TerminalText.safe($0))" }
    let end = event.kind == .creep ? " to \(event.after.startedAt.minute)" : ""
    let branch = event.branch == nil ? "" : " on \(event.branchText)"
    page.paragraph("\(event.start.startedAt.minute)\(end)\(branch)\(subject ?? "")", indent: 2)
    for change in event.mainChanges.prefix(mostChanges) {
      page.paragraph("\(TerminalText.safe(change.scenario.text)) \(TerminalText.safe(change.displayText))", indent: 2)
    }
    let others = event.mainChanges.count - mostChanges
    if others > 0 { page.paragraph("\(others) more", indent: 2) }
    for command in [event.logCommand, event.bisectCommand].compactMap(\.self) { page.command(command, indent: 4) }
  }
}

extension TrendEvent {
  fileprivate var tone: Tone? { needsAttention ? .bad : nil }

  fileprivate var branchText: String { TerminalText.safe(branch ?? "-") }
}
