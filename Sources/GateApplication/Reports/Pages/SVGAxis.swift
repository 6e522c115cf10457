import GateCore

/// An axis of a chart: its range and labels.
struct SVGAxis {
  struct Tick: Equatable {
    var value: Double
    var label: String
  }

  var range: ClosedRange<Double>
  var ticks: [Tick]
}

extension SVGAxis {
  /// An axis for values in a unit of the result file, between round numbers.
  ///
  /// The steps are 1, 2 or 5 times a power of ten of the unit that suits the largest value, as in 20 MiB, 40 MiB,
  /// 60 MiB.
  static func amounts(_ values: ClosedRange<Double>, unit: String = "bytes") -> SVGAxis {
    let (name, size) = scale(of: unit, upTo: max(values.lowerBound.magnitude, values.upperBound.magnitude))
    let ticks = roundNumbers(from: values.lowerBound / size, to: values.upperBound / size, about: 5)
    let range =
      min(values.lowerBound, ticks.numbers[0] * size)...max(values.upperBound, (ticks.numbers.last ?? 0) * size)
    return SVGAxis(
      range: range,
      ticks: ticks.numbers.map { number in
        let text = Decimals.text(number, places: ticks.places)
        return Tick(value: number * size, label: number == 0 ? "0" : text + name)
      }
    )
  }

  /// The unit to print after the numbers, and its size.
  private static func scale(of unit: String, upTo largest: Double) -> (name: String, size: Double) {
    switch unit {
    case _ where MetricUnit.isMemory(unit):
      let (name, size) = Bytes.units.prefix(4).last { Double($0.size) <= largest } ?? ("B", 1)
      let per = MetricUnit.shortSuffix(of: unit)
      return ("\(Format.space)\(name)\(TerminalText.safe(per))", Double(size))
    case "seconds": return largest < 1 ? ("\(Format.space)ms", 0.001) : ("\(Format.space)s", 1)
    case "": return ("", 1)
    default: return ("\(Format.space)\(TerminalText.safe(unit))", 1)
    }
  }

  /// Seconds since a start.
  static func time(_ length: Double) -> SVGAxis {
    let unit: (size: Double, name: String) = length < 1 ? (0.001, "ms") : length <= 120 ? (1, "s") : (60, "min")
    let ticks = roundNumbers(from: 0, to: length / unit.size, about: 7)
    return SVGAxis(
      range: 0...max(length, 1e-9),
      ticks: ticks.numbers.filter { $0 * unit.size <= length }.map { number in
        Tick(
          value: number * unit.size, label: Decimals.text(number, places: ticks.places) + "\(Format.space)\(unit.name)"
        )
      }
    )
  }

  /// A position for each run, the first at 0; some of them have labels.
  static func runs(_ labels: [String], atMost most: Int = 8) -> SVGAxis {
    let stride = max(1, (labels.count + most - 1) / most)
    return SVGAxis(
      range: -0.5...Double(max(1, labels.count)) - 0.5,
      ticks: Swift.stride(from: 0, to: labels.count, by: stride).map { Tick(value: Double($0), label: labels[$0]) }
    )
  }

  /// Round numbers from at most `low` to at least `high`, in about this many steps, and the number of decimals that
  /// distinguishes them.
  private static func roundNumbers(from low: Double, to high: Double, about count: Int) -> (
    numbers: [Double], places: Int
  ) {
    let rough = max(high - low, high.magnitude * 1e-6, 0.001) / Double(count)
    var (power, places) = (1.0, 0)
    while power * 10 <= rough { power *= 10 }
    while power > rough, places < 9 { (power, places) = (power / 10, places + 1) }
    let factor = [1.0, 2, 5, 10].first { $0 * power >= rough } ?? 10
    if factor == 10 { places = max(0, places - 1) }
    let step = factor * power
    let first = (low / step).rounded(.down)
    let last = max((high / step).rounded(.up), first + 1)
    return ((0...Int(last - first)).map { (first + Double($0)) * step }, places)
  }
}
