import GateCore

/// The memory curve of a scenario beside that of its baseline, as lines of text with one scale for both.
struct MarkdownCurves {
  private typealias Curve = (title: String, readings: [BlockChart.Reading])

  private let curves: [Curve]
  private let span: Duration
  private let range: ClosedRange<Double>

  /// In all, so that a line fits a page beside a menu.
  private static let columns = 58

  /// Shows the median repetition; nil without its curve.
  init?(_ scenario: ScenarioResult) {
    guard let shown = scenario.middleRepetition, let now = scenario.repetitions[shown].curve?.main else { return nil }
    let series = [(scenario.sides.before, scenario.reference?.curve), (scenario.sides.now, now)]
    curves = series.compactMap { title, series in
      series.map { (title, $0.points.map { ($0.time, Double($0.high.count)) }) }
    }
    let all = curves.flatMap(\.readings)
    guard all.count > 1, let last = all.map(\.time).max(), last > .zero, let range = BlockChart.range(of: all) else {
      return nil
    }
    (span, self.range) = (last, range)
  }

  var lines: [String] {
    let ends = [range.upperBound, range.lowerBound].map { TerminalText.withPlainSpaces(Format.amount($0)) }
    let margin = ends.map(\.count).max() ?? 0
    let width = (Self.columns - 2 * (curves.count - 1)) / curves.count
    let charts = curves.map { curve in
      BlockChart(curve.readings, span: span, range: range, columns: width, unicode: true)
    }
    let rows = (0..<BlockChart.rows).map { row in
      let label = row == 0 ? ends[0] : row == BlockChart.rows - 1 ? ends[1] : ""
      return line(label, margin, axis: label.isEmpty ? "│" : "┤", charts.map { $0.line(row: row) }, width)
    }
    let time = TerminalText.withPlainSpaces(Format.time(span))
    let times = curves.map { _ in "0 s" + TerminalText.padded(time, to: width - 3, on: .right) }
    let rule = String(repeating: "─", count: width)
    return [line("", margin, axis: " ", curves.map(\.title), width)] + rows
      + [line("", margin, axis: "└", curves.map { _ in rule }, width), line("", margin, axis: " ", times, width)]
  }

  private func line(_ label: String, _ margin: Int, axis: String, _ parts: [String], _ width: Int) -> String {
    let text = parts.map { TerminalText.padded($0, to: width) }.joined(separator: "  ")
    let line = TerminalText.padded(label, to: margin, on: .right) + " " + axis + text
    return String(line.reversed().drop { $0 == " " }.reversed())
  }
}
