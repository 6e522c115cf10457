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
      .init(title: "date (UTC)", side: .left), .init(title: "event", side: .left), .init(title: "kind", side: .left),
      .init(title: "median", side: .right), .init(title: "scenarios", side: .left), .init(title: "cause", side: .left),
    ])
    table.flexible = 5
    table.rows = events.reversed().map { row($0, style) }
    table.write(to: &page, indent: 0, limits: [.max, leastCause])
    return page.text
  }

  private static let leastCause = 12
  private static let longestScope = 20
  /// Of an event with many scenarios, the largest changes are named.
  private static let mostChanges = 5

  private static func row(_ event: TrendEvent, _ style: TerminalStyle) -> [Table.Cell] {
    let scope = event.scenarios.count > 1 ? "\(event.scenarios.count) of \(event.measured)" : event.scopeText
    return [
      Table.Cell(event.start.startedAt.day),
      Table.Cell(TerminalText.safe(event.id)),
      Table.Cell(event.kind.rawValue, event.tone),
      Table.Cell(Format.percent(event.medianPercent)),
      Table.Cell(
        TerminalText.cut(TerminalText.safe(scope), to: longestScope, at: .middle, mark: style.ellipsis)),
      Table.Cell(TerminalText.safe(event.shortCauseText)),
    ]
  }

  private static func write(_ event: TrendEvent, to page: inout TerminalPage) {
    page.paragraph(
      TerminalText.safe(event.displayText), indent: 0, label: "\(TerminalText.safe(event.id))  ", tone: event.tone)
    // Of creep no commit is the cause.
    let subject = event.kind == .creep ? nil : event.after.subject.map { "  \(TerminalText.safe($0))" }
    let end = event.kind == .creep ? " to \(event.after.startedAt.minute)" : ""
    page.paragraph("\(event.start.startedAt.minute)\(end)\(subject ?? "")", indent: 2)
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
}
