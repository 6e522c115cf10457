import GateCore

/// A static chart of values over time or runs, for print and for pages without scripts.
///
/// It has the width of its container (`viewBox`); its colours are classes of `page.css`. Layers are drawn in order.
struct SVGChart {
  var title: String
  /// The chart in a sentence, for screen readers.
  var summary: String
  var across: SVGAxis
  var up: SVGAxis
  var layers: [Layer]
  /// In units of the chart; about 600 to 1200 of them are as wide as a page.
  var width = 720
  var height = 240

  /// A layer of the chart, in the values of the axes.
  enum Layer {
    /// A range over the whole height, with a label above it.
    case span(ClosedRange<Double>, label: String = "", ink: Ink = .quiet)
    /// The area between two edges.
    case band([Range], ink: Ink)
    /// Straight lines between points; nil leaves a gap.
    case line([Point?], ink: Ink, weight: Weight = .plain)
    /// Level up to the next point; nil leaves a gap.
    case steps([Point?], ink: Ink, weight: Weight = .plain)
    /// An instant: a vertical line, with a label if there is space.
    case mark(Double, label: String = "", ink: Ink = .quiet)
    case points([Point], shape: Shape, ink: Ink)
  }

  struct Point: Equatable {
    var x: Double
    var y: Double
  }

  struct Range: Equatable {
    var x: Double
    var low: Double
    var high: Double
  }

  /// Colours, by their names in `page.css`.
  enum Ink: String {
    case blue, orange, green, red, purple, sky, quiet, text
  }

  enum Weight: String {
    case faint, plain, strong, dashed
  }

  /// Marks that can be distinguished without colour.
  enum Shape {
    case dot, circle, diamond, cross
  }
}

// MARK: - Drawing

extension SVGChart {
  /// Space for the labels of the vertical axis, the spans above and the horizontal axis below.
  private static let margin = (left: 68, top: 18, right: 10, bottom: 22)

  var text: String {
    let plot = SVGPlot(
      chart: self, left: Self.margin.left, top: Self.margin.top, right: width - Self.margin.right,
      bottom: height - Self.margin.bottom)
    return """
      <svg class="chart" viewBox="0 0 \(width) \(height)" role="img"><title>\(SVGText.safe(title))</title>\
      <desc>\(SVGText.safe(summary))</desc>\(plot.text)</svg>
      """
  }

  /// A chart of a line's height for a table: a series of values, with a dot at the last one and diamonds at the
  /// `marked` ones.
  static func sparkline(_ values: [Double?], marked: [Int] = [], title: String) -> String {
    let known = values.compactMap(\.self)
    let (low, high) = (known.min() ?? 0, known.max() ?? 1)
    // Noise of a hundredth must not look like a mountain.
    let least = max(high.magnitude / 50, 1)
    let space = max(0, least - (high - low)) / 2
    let scale = SVGScale(low - space...high + space, onto: (21, 3))
    let run = SVGScale(0...Double(max(1, values.count - 1)), onto: (3, 117))
    func place(_ index: Int) -> SVGPlace? {
      values[index].map { SVGPlace(x: run.tenths(Double(index)), y: scale.tenths($0)) }
    }
    let line = SVGPath.line(values.indices.map(place))
    let marks = marked.filter(values.indices.contains).compactMap(place).map {
      SVGPath.shape(.diamond, at: $0, size: 3)
    }
    let last = values.indices.last.flatMap(place).map { SVGPath.shape(.dot, at: $0, size: 2) }
    return """
      <svg class="sparkline" viewBox="0 0 120 24" role="img"><title>\(SVGText.safe(title))</title>\
      <path class="blue plain" d="\(line)"/>\
      \(marks.isEmpty ? "" : "<path class=\"red fill\" d=\"\(marks.joined())\"/>")\
      \(last.map { "<path class=\"blue fill\" d=\"\($0)\"/>" } ?? "")</svg>
      """
  }
}

/// The plot of a chart: converts values to positions, and writes the markup.
private struct SVGPlot {
  let chart: SVGChart
  let left: Int
  let top: Int
  let right: Int
  let bottom: Int
  private let across: SVGScale
  private let up: SVGScale

  /// The usual maximum width of a character in a label.
  private static let characterWidth = 6

  init(chart: SVGChart, left: Int, top: Int, right: Int, bottom: Int) {
    (self.chart, self.left, self.top, self.right, self.bottom) = (chart, left, top, right, bottom)
    across = SVGScale(chart.across.range, onto: (left, right))
    up = SVGScale(chart.up.range, onto: (bottom, top))
  }

  var text: String {
    axes + chart.layers.map(markup).joined() + labels
  }

  private var axes: String {
    let rows = chart.up.ticks.map { SVGPath.horizontal(from: left * 10, to: right * 10, y: up.tenths($0.value)) }
    let heights = chart.up.ticks.map { tick in
      label(tick.label, at: SVGPlace(x: (left - 6) * 10, y: up.tenths(tick.value) + 40), anchor: " class=\"end\"")
    }
    let times = chart.across.ticks.map { tick in
      let x = across.tenths(tick.value)
      let anchor = x > right * 10 - 200 ? " class=\"end\"" : x < left * 10 + 100 ? "" : " class=\"middle\""
      return label(tick.label, at: SVGPlace(x: min(x, right * 10), y: (bottom + 16) * 10), anchor: anchor)
    }
    let feet = chart.across.ticks.map {
      SVGPath.vertical(x: across.tenths($0.value), from: bottom * 10, to: (bottom + 4) * 10)
    }
    return "<path class=\"grid\" d=\"\((rows + feet).joined())\"/><g class=\"ticks\">\((heights + times).joined())</g>"
  }

  private func markup(_ layer: SVGChart.Layer) -> String {
    switch layer {
    case .span(let range, _, let ink):
      let (from, to) = (across.tenths(range.lowerBound), across.tenths(range.upperBound))
      let area = """
        <rect class="\(ink.rawValue) shade" x="\(SVGText.tenths(from))" y="\(top)" \
        width="\(SVGText.tenths(max(0, to - from)))" height="\(bottom - top)"/>
        """
      return area + path("\(ink.rawValue) edge", SVGPath.vertical(x: from, from: top * 10, to: bottom * 10))
    case .band(let ranges, let ink):
      let upper = ranges.map { place(SVGChart.Point(x: $0.x, y: $0.high)) }
      let lower = ranges.reversed().map { place(SVGChart.Point(x: $0.x, y: $0.low)) }
      return ranges.isEmpty ? "" : path("\(ink.rawValue) band", SVGPath.line(upper + lower) + "z")
    case .line(let points, let ink, let weight):
      return path("\(ink.rawValue) \(weight.rawValue)", SVGPath.line(points.map { $0.map(place) }))
    case .steps(let points, let ink, let weight):
      return path("\(ink.rawValue) \(weight.rawValue)", SVGPath.steps(points.map { $0.map(place) }))
    case .mark(let time, _, let ink):
      return path("\(ink.rawValue) mark", SVGPath.vertical(x: across.tenths(time), from: top * 10, to: bottom * 10))
    case .points(let points, let shape, let ink):
      let fill = [.cross, .circle].contains(shape) ? "plain" : "fill"
      return path("\(ink.rawValue) \(fill)", points.map { SVGPath.shape(shape, at: place($0), size: 4) }.joined())
    }
  }

  private func path(_ style: String, _ data: String) -> String {
    data.isEmpty ? "" : "<path class=\"\(style)\" d=\"\(data)\"/>"
  }

  /// Values below the axis are at its bottom.
  private func place(_ point: SVGChart.Point) -> SVGPlace {
    SVGPlace(x: across.tenths(point.x), y: min(bottom * 10, up.tenths(point.y)))
  }
}

// MARK: - Labels

extension SVGPlot {
  /// The labels of spans and marks, above all lines; a label without space is left out, since the table has it too.
  private var labels: String {
    var markLabels = SVGLabelRows(rows: 3, right: right)
    return chart.layers.map { layer in
      switch layer {
      case .span(let range, let text, _): spanLabel(text, range)
      case .mark(let time, let text, let ink): markLabel(text, time, ink, &markLabels)
      case .band, .line, .steps, .points: ""
      }
    }.joined()
  }

  /// Above its span, and not wider.
  private func spanLabel(_ text: String, _ range: ClosedRange<Double>) -> String {
    let (from, to) = (across.tenths(range.lowerBound) / 10, across.tenths(range.upperBound) / 10)
    let shown = TerminalText.cut(TerminalText.safe(text), to: (to - from - 4) / Self.characterWidth, mark: "…")
    guard shown.count > 1 || shown == text, !shown.isEmpty else { return "" }
    return """
      <svg x="\(from)" y="0" width="\(to - from)" height="\(top)"><text class="span" x="4" y="13">\
      \(SVGText.escaped(shown))</text></svg>
      """
  }

  private func markLabel(_ text: String, _ time: Double, _ ink: SVGChart.Ink, _ rows: inout SVGLabelRows) -> String {
    let shown = TerminalText.cut(TerminalText.safe(text), to: 24, mark: "…")
    let x = across.tenths(time) / 10
    guard !shown.isEmpty, let row = rows.row(at: x, width: TerminalText.columns(shown) * Self.characterWidth + 8) else {
      return ""
    }
    return label(
      shown, at: SVGPlace(x: (x + 4) * 10, y: (top + 12 + row * 13) * 10),
      anchor: " class=\"label \(ink.rawValue)-text\"")
  }

  private func label(_ text: String, at place: SVGPlace, anchor: String) -> String {
    "<text\(anchor) x=\"\(SVGText.tenths(place.x))\" y=\"\(SVGText.tenths(place.y))\">\(SVGText.safe(text))</text>"
  }
}

/// Rows of labels that must not overlap.
private struct SVGLabelRows {
  private var ends: [Int]
  private let right: Int

  init(rows: Int, right: Int) {
    ends = Array(repeating: .min, count: rows)
    self.right = right
  }

  /// The first row with space from this position on, if any.
  mutating func row(at x: Int, width: Int) -> Int? {
    guard x + width <= right, let row = ends.firstIndex(where: { $0 <= x }) else { return nil }
    ends[row] = x + width
    return row
  }
}
