/// An amount in a gate: a limit or a tolerance.
package enum Amount: Sendable, Hashable, Codable {
  case size(Bytes)
  case time(Duration)
  /// In a unit of the target, such as cache entries.
  case number(Double)

  package static func kibibytes(_ count: Int64) -> Amount { .size(.kibibytes(count)) }
  package static func mebibytes(_ count: Int64) -> Amount { .size(.mebibytes(count)) }

  /// In bytes, in seconds, or the number itself.
  package var value: Double {
    switch self {
    case .size(let bytes): Double(bytes.count)
    case .time(let duration): duration.inSeconds
    case .number(let number): number
    }
  }

  /// Whether both are of the same kind.
  package func isLike(_ other: Amount) -> Bool {
    switch (self, other) {
    case (.size, .size), (.time, .time), (.number, .number): true
    default: false
    }
  }

  /// Whether values in this unit can be compared with it; bytes per second or iteration count as sizes.
  package func fits(unit: String) -> Bool {
    switch self {
    case .size: MetricUnit.isMemory(unit)
    case .time: unit == "seconds"
    case .number: !unit.isEmpty && !MetricUnit.isMemory(unit) && !Amount.time(.zero).fits(unit: unit)
    }
  }
}

extension Amount: CustomStringConvertible {
  /// The amount as printed in reports: `512 KiB`, `200 ms`, `1000`.
  package var description: String {
    switch self {
    case .size(let bytes): bytes.description
    case .time(let duration): MetricUnit.ownText(of: duration.inSeconds, unit: "seconds")
    case .number(let number): Decimals.short(number)
    }
  }
}

extension Amount {
  /// Parses a size as in `512KiB`, a duration as in `200ms`, or a bare number up to 2^60.
  ///
  /// - Throws: the error, with valid examples.
  package init(parsing text: String) throws(UnitError) {
    let unit = text.drop { ("0"..."9").contains($0) || $0 == "." || $0 == " " }
    if Bytes.units.contains(where: { $0.name == unit }) {
      self = .size(try Bytes(parsing: text))
    } else if Duration.unitSizes.contains(where: { $0.name == unit }) {
      self = .time(try Duration(parsing: text))
    } else if let number = Double(text), (0...Double(Bytes.largest.count)).contains(number) {
      self = .number(number)
    } else {
      let (sizes, times) = (Bytes.units.map(\.name), Duration.unitSizes.map(\.name))
      throw UnitError(
        problem: "`\(text.prefix(40))` is not a number up to 2^60, a size or a duration",
        hint: "write an amount in a unit that the target reports as a bare number, such as `1000`; the other units are "
          + (sizes + times).joined(separator: ", ")
      )
    }
  }
}
