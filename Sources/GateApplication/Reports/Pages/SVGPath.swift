/// A position in a chart, in tenths of its unit: precise enough for the eye, in few characters.
struct SVGPlace: Equatable {
  var x: Int
  var y: Int
}

/// Converts values to positions along an axis; values outside the range are put at its edge.
struct SVGScale {
  private let range: ClosedRange<Double>
  private let start: Double
  private let end: Double

  init(_ range: ClosedRange<Double>, onto sides: (start: Int, end: Int)) {
    self.range = range
    (start, end) = (Double(sides.start) * 10, Double(sides.end) * 10)
  }

  func tenths(_ value: Double) -> Int {
    let length = range.upperBound - range.lowerBound
    guard length > 0, !value.isNaN else { return Int(start) }
    let share = (min(max(value, range.lowerBound), range.upperBound) - range.lowerBound) / length
    return Int((start + share * (end - start)).rounded())
  }
}

/// The data of SVG paths (SVG 1.1, 8.3), in relative coordinates.
enum SVGPath {
  /// Straight lines between positions, with a gap at each nil.
  ///
  /// A single position between gaps is a dot, since lines have round ends.
  static func line(_ places: [SVGPlace?]) -> String {
    trace(places) { from, to in "l" + pair(to.x - from.x, to.y - from.y) }
  }

  /// Level up to the next position, then straight to its height.
  static func steps(_ places: [SVGPlace?]) -> String {
    trace(places) { from, to in
      "h" + SVGText.tenths(to.x - from.x) + (to.y == from.y ? "" : "v" + SVGText.tenths(to.y - from.y))
    }
  }

  static func horizontal(from start: Int, to end: Int, y: Int) -> String {
    "M" + pair(start, y) + "h" + SVGText.tenths(end - start)
  }

  static func vertical(x: Int, from start: Int, to end: Int) -> String {
    "M" + pair(x, start) + "v" + SVGText.tenths(end - start)
  }

  /// A mark around a position; `size` is half its height, in whole units.
  static func shape(_ shape: SVGChart.Shape, at place: SVGPlace, size: Int) -> String {
    let s = size * 10
    switch shape {
    case .dot, .circle:
      let (radius, width) = (SVGText.tenths(s), SVGText.tenths(2 * s))
      return "M\(pair(place.x - s, place.y))a\(radius) \(radius) 0 1 0 \(width) 0a\(radius) \(radius) 0 1 0-\(width) 0z"
    case .diamond:
      let corners = [(0, -s), (s, 0), (0, s), (-s, 0)]
      return line(corners.map { SVGPlace(x: place.x + $0, y: place.y + $1) }) + "z"
    case .cross:
      return line([SVGPlace(x: place.x - s, y: place.y - s), SVGPlace(x: place.x + s, y: place.y + s)])
        + line([SVGPlace(x: place.x - s, y: place.y + s), SVGPlace(x: place.x + s, y: place.y - s)])
    }
  }

  private static func trace(_ places: [SVGPlace?], _ step: (SVGPlace, SVGPlace) -> String) -> String {
    var text = ""
    for (index, place) in places.enumerated() {
      guard let place else { continue }
      let before = index > 0 ? places[index - 1] : nil
      let next = index + 1 < places.count ? places[index + 1] : nil
      if let before { text += step(before, place) } else { text += "M" + pair(place.x, place.y) }
      // A move alone draws nothing.
      if before == nil, next == nil { text += "h0" }
    }
    return text
  }

  /// Two numbers; a sign also separates them.
  private static func pair(_ x: Int, _ y: Int) -> String {
    SVGText.tenths(x) + (y < 0 ? "" : " ") + SVGText.tenths(y)
  }
}

/// Numbers and text in SVG within HTML.
enum SVGText {
  /// As in `-.5`, `3` or `12.1`.
  static func tenths(_ tenths: Int) -> String {
    let (whole, rest) = (tenths.magnitude / 10, tenths.magnitude % 10)
    return (tenths < 0 ? "-" : "") + (whole > 0 || rest == 0 ? "\(whole)" : "") + (rest > 0 ? ".\(rest)" : "")
  }

  /// Untrusted text, without markup, control and format characters.
  static func safe(_ text: String) -> String {
    escaped(TerminalText.safe(text))
  }

  static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }
}
