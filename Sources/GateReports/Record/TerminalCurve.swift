import GateCore

/// Resident memory over time, drawn with block characters.
struct TerminalCurve {
  private let style: TerminalStyle
  private let span: Duration
  /// The highest sample in each column of time; nil before the first sample.
  private let heights: [Double?]
  private let low: Double
  private let high: Double

  private static let rows = 8
  private static let mostColumns = 60

  /// - Returns: nil for fewer than two samples.
  init?(recording: Recording, style: TerminalStyle) {
    let readings = recording.samples.compactMap { sample in
      sample.main.map { (time: sample.time, value: Double($0.resident.count)) }
    }
    guard let first = readings.first, let last = readings.last, readings.count > 1, last.time > .zero else {
      return nil
    }
    let high = readings.map(\.value).reduce(first.value, max)
    let lowest = readings.map(\.value).reduce(first.value, min)
    self.style = style
    self.span = last.time
    self.high = high
    // At least a tenth of the height, so that the noise of a flat curve does not fill the chart.
    self.low = min(lowest, high * 0.9)
    self.heights = Self.columns(readings, span: last.time, count: min(Self.mostColumns, style.width - 16))
  }

  /// A column without a sample repeats the previous one.
  private static func columns(_ readings: [(time: Duration, value: Double)], span: Duration, count: Int) -> [Double?] {
    var highest = [Double?](repeating: nil, count: count)
    for reading in readings {
      let share = Double(reading.time.nanoseconds) / Double(max(1, span.nanoseconds))
      let column = min(max(Int(share * Double(count)), 0), count - 1)
      highest[column] = max(highest[column] ?? 0, reading.value)
    }
    var previous: Double?
    return highest.map { value in
      previous = value ?? previous
      return previous
    }
  }

  func write(to page: inout TerminalPage) {
    let labels = (0..<Self.rows).map { row in
      row == 0 ? Format.amount(high) : row == Self.rows - 1 ? Format.amount(low) : ""
    }
    let width = labels.map(TerminalText.columns).max() ?? 0
    page.gap()
    page.line("  " + style.painted("resident memory of the main process", .faint))
    for (row, label) in labels.enumerated() {
      let axis = style.unicode ? (label.isEmpty ? "│" : "┤") : "|"
      let head = "  " + TerminalText.padded(label, to: width, on: .right) + " " + axis
      page.line(style.painted(head, .faint) + line(row: row))
    }
    let floor = String(repeating: style.unicode ? "─" : "-", count: heights.count)
    let indent = String(repeating: " ", count: width + 3)
    page.line(style.painted(indent + (style.unicode ? "└" : "+") + floor, .faint))
    let end = Format.time(span)
    let start = TerminalText.padded("0\(Format.space)s", to: heights.count - TerminalText.columns(end))
    page.line(style.painted(indent + " " + start + end, .faint))
  }

  /// One row of the chart, counted from the top; the lowest level has the thinnest block.
  private func line(row: Int) -> String {
    let blocks = Array(style.unicode ? " ▁▂▃▄▅▆▇█" : "   .:::##")
    let steps = blocks.count - 1
    let cells = heights.map { height -> Character in
      guard let height else { return " " }
      let share = high > low ? (height - low) / (high - low) : 1
      let filled = max(1, Int((share * Double(Self.rows * steps)).rounded()))
      let here = filled - (Self.rows - 1 - row) * steps
      return blocks[min(max(here, 0), steps)]
    }
    return String(cells.reversed().drop { $0 == " " }.reversed())
  }
}
