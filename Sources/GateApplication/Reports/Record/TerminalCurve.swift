import GateCore

/// Resident memory over time, drawn with block characters.
struct TerminalCurve {
  private let style: TerminalStyle
  private let span: Duration
  private let chart: BlockChart
  private let columns: Int

  private static let mostColumns = 60

  /// - Returns: nil for fewer than two samples.
  init?(recording: Recording, style: TerminalStyle) {
    let readings = recording.samples.compactMap { sample in
      sample.main.map { (time: sample.time, value: Double($0.resident.count)) }
    }
    guard let last = readings.last, let range = BlockChart.range(of: readings), readings.count > 1, last.time > .zero
    else { return nil }
    self.style = style
    span = last.time
    columns = min(Self.mostColumns, style.width - 16)
    chart = BlockChart(readings, span: span, range: range, columns: columns, unicode: style.unicode)
  }

  func write(to page: inout TerminalPage) {
    let labels = (0..<BlockChart.rows).map { row in
      row == 0
        ? Format.amount(chart.range.upperBound)
        : row == BlockChart.rows - 1 ? Format.amount(chart.range.lowerBound) : ""
    }
    let width = labels.map(TerminalText.columns).max() ?? 0
    page.gap()
    page.line("  " + style.painted("resident memory of the main process", .faint))
    for (row, label) in labels.enumerated() {
      let axis = style.unicode ? (label.isEmpty ? "│" : "┤") : "|"
      let head = "  " + TerminalText.padded(label, to: width, on: .right) + " " + axis
      page.line(style.painted(head, .faint) + chart.line(row: row))
    }
    let floor = String(repeating: style.unicode ? "─" : "-", count: columns)
    let indent = String(repeating: " ", count: width + 3)
    page.line(style.painted(indent + (style.unicode ? "└" : "+") + floor, .faint))
    let end = Format.time(span)
    let start = TerminalText.padded("0\(Format.space)s", to: columns - TerminalText.columns(end))
    page.line(style.painted(indent + " " + start + end, .faint))
  }
}
