import FoundationEssentials

/// An error in a text that should be a number with a unit.
package struct UnitError: Error, Sendable, Equatable {
  package let problem: String
  package let hint: String

  package init(problem: String, hint: String) {
    (self.problem, self.hint) = (problem, hint)
  }

  /// Splits a text into a non-negative number and one of the units.
  static func split(
    _ text: String,
    kind: String,
    units: [String],
    example: String
  ) throws(UnitError) -> (number: Double, unit: String) {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }
    guard let number = Double(digits), number.isFinite, digits.count <= 20 else {
      throw UnitError(
        problem: "`\(text.prefix(40))` is not a \(kind)",
        hint: "write a number with a unit (\(units.joined(separator: ", "))), such as `\(example)`"
      )
    }
    guard units.contains(String(unit)) else {
      let problem = unit.isEmpty ? "the \(kind) `\(text)` has no unit" : "`\(unit.prefix(20))` is not a unit of \(kind)"
      throw UnitError(
        problem: problem,
        hint: "write one of \(units.joined(separator: ", ")), such as `\(example)`"
      )
    }
    return (number, String(unit))
  }
}

/// Numbers with a fixed number of decimal places, independent of the locale.
package enum Decimals {
  /// The number rounded half away from zero to `places` decimal places (0 to 9), as in `-3.10`.
  package static func text(_ number: Double, places: Int) -> String {
    guard number.isFinite, number.magnitude < 1e15 else { return "\(number)" }
    let scale = (0..<places).reduce(1.0) { power, _ in power * 10 }
    let scaled = Int64((number.magnitude * scale).rounded())
    let sign = number < 0 && scaled > 0 ? "-" : ""
    let whole = scaled / Int64(scale)
    guard places > 0 else { return "\(sign)\(whole)" }
    let fraction = String(scaled % Int64(scale))
    return "\(sign)\(whole)." + String(repeating: "0", count: places - fraction.count) + fraction
  }

  /// The number with about four digits, without trailing zeros, as in `17`, `0.125`, `3.5` or `1234.5`.
  package static func short(_ number: Double) -> String {
    let places = number.magnitude < 1 ? 4 : number.magnitude < 100 ? 2 : number.magnitude < 10_000 ? 1 : 0
    let exact = (0..<places).first { Double(text(number, places: $0)) == Double(text(number, places: places)) }
    return text(number, places: exact ?? places)
  }
}

/// A percentage.
package struct Percent: Sendable, Hashable, Comparable {
  package let value: Double

  package init(_ value: Double) {
    self.value = value
  }

  /// Parses a percentage, as in `3%` or `0.5 %`.
  ///
  /// - Throws: the error, with valid examples.
  package init(parsing text: String) throws(UnitError) {
    let (number, _) = try UnitError.split(text, kind: "percentage", units: ["%"], example: "3%")
    guard number <= 10_000 else {
      throw UnitError(problem: "the percentage `\(text)` is too large", hint: "the largest is 10000%")
    }
    self.init(number)
  }

  package static func < (lhs: Percent, rhs: Percent) -> Bool {
    lhs.value < rhs.value
  }
}

extension Duration {
  /// The units of time of the project file, in nanoseconds.
  package static let unitSizes: [(name: String, nanoseconds: Double)] = [
    ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("m", 60e9), ("h", 3600e9),
  ]

  /// Parses a duration, as in `10ms`, `1.5s`, `5m` or `2h`.
  ///
  /// - Throws: the error, with valid examples.
  package init(parsing text: String) throws(UnitError) {
    let (number, unit) = try UnitError.split(
      text, kind: "duration", units: Self.unitSizes.map(\.name), example: "10s"
    )
    let nanoseconds = number * (Self.unitSizes.first { $0.name == unit }?.nanoseconds ?? 1)
    guard nanoseconds <= 7 * 24 * 3600e9 else {
      throw UnitError(problem: "the duration `\(text)` is too long", hint: "the longest is 168h")
    }
    self = .nanoseconds(Int64(nanoseconds.rounded()))
  }

  /// The duration in nanoseconds, limited to 292 years.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : whole + attoseconds / 1_000_000_000
  }

  /// The duration in seconds.
  package var inSeconds: Double {
    Double(nanoseconds) / 1e9
  }

  /// The duration as printed in reports: `10 ms`, `1.5 s`, `5 min 2 s`.
  package var displayText: String {
    let seconds = inSeconds
    switch seconds {
    case ..<0.001: return "\(Decimals.text(seconds * 1e6, places: 0)) µs"
    case ..<1: return "\(Decimals.text(seconds * 1000, places: 0)) ms"
    case ..<10: return "\(Decimals.text(seconds, places: 1)) s"
    case ..<60: return "\(Decimals.text(seconds, places: 0)) s"
    default:
      let whole = Int64(seconds.rounded())
      return whole % 60 == 0 ? "\(whole / 60) min" : "\(whole / 60) min \(whole % 60) s"
    }
  }
}
