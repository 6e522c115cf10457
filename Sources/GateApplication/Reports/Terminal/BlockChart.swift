import GateCore

/// Amounts over time, drawn with block characters, with one column for each equal time span.
struct BlockChart {
  /// One reading of an amount.
  typealias Reading = (time: Duration, value: Double)

  /// The highest reading of each column; nil before the first one.
  private let heights: [Double?]
  let range: ClosedRange<Double>
  private let blocks: [Character]

  static let rows = 8

  /// A column without a reading repeats the previous one; columns after the last reading are empty.
  init(_ readings: [Reading], span: Duration, range: ClosedRange<Double>, columns count: Int, unicode: Bool) {
    var highest = [Double?](repeating: nil, count: count)
    var last = -1
    for reading in readings {
      let share = Double(reading.time.nanoseconds) / Double(max(1, span.nanoseconds))
      let column = min(max(Int(share * Double(count)), 0), count - 1)
      highest[column] = max(highest[column] ?? 0, reading.value)
      last = max(last, column)
    }
    var previous: Double?
    heights = highest.enumerated().map { column, value in
      previous = column > last ? nil : value ?? previous
      return previous
    }
    self.range = range
    blocks = Array(unicode ? " ▁▂▃▄▅▆▇█" : "   .:::##")
  }

  /// The range of the readings, but at least a tenth of its height, so that the noise of a flat curve does not fill the
  /// chart; nil without readings.
  static func range(of readings: [Reading]) -> ClosedRange<Double>? {
    let values = readings.map(\.value)
    guard let high = values.max(), let low = values.min() else { return nil }
    return min(low, high * 0.9)...high
  }

  /// One row of the chart, counted from the top, without blanks at its end; the lowest level has the thinnest block.
  func line(row: Int) -> String {
    let steps = blocks.count - 1
    let cells = heights.map { height -> Character in
      guard let height else { return " " }
      let (low, high) = (range.lowerBound, range.upperBound)
      let share = high > low ? (height - low) / (high - low) : 1
      let filled = max(1, Int((share * Double(Self.rows * steps)).rounded()))
      let here = filled - (Self.rows - 1 - row) * steps
      return blocks[min(max(here, 0), steps)]
    }
    return String(cells.reversed().drop { $0 == " " }.reversed())
  }
}
