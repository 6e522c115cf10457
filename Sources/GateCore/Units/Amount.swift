/// An amount that a gate names, as a limit or a tolerance.
package enum Amount: Sendable, Hashable, Codable {
  case size(Bytes)
  case time(Duration)
  /// In a unit of the target's own, such as the entries of a cache.
  case number(Double)

  package static func kibibytes(_ count: Int64) -> Amount { .size(.kibibytes(count)) }
  package static func mebibytes(_ count: Int64) -> Amount { .size(.mebibytes(count)) }

  /// In bytes, in seconds, or the number as it stands.
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

  /// Whether figures of this unit can be held against it; bytes per second or iteration are sizes.
  package func fits(unit: String) -> Bool {
    switch self {
    case .size: MetricUnit.isMemory(unit)
    case .time: unit == "seconds"
    case .number: !unit.isEmpty && !MetricUnit.isMemory(unit) && !Amount.time(.zero).fits(unit: unit)
    }
  }
}

extension Amount: CustomStringConvertible {
  /// The amount for a person: `512 KiB`, `200 ms`, `1000`.
  package var description: String {
    switch self {
    case .size(let bytes): bytes.description
    case .time(let duration): MetricUnit.ownText(of: duration.inSeconds, unit: "seconds")
    case .number(let number): Decimals.short(number)
    }
  }
}

extension Amount {
  /// Reads a size as in `512KiB`, a span of time as in `200ms`, or a bare number up to 2^60.
  ///
  /// - Throws: what is wrong with the text, and what would be right.
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
        problem: "`\(text.prefix(40))` is not a number up to 2^60, a size or a span of time",
        hint: "what has a unit of the target's own is written as a bare number, such as `1000`; the other units are "
          + (sizes + times).joined(separator: ", ")
      )
    }
  }
}

/// The unit of a figure, as the result file names it: `bytes`, `bytes/second`, `bytes/iteration`, `seconds`, or one of
/// the target's own, such as `items`.
package enum MetricUnit {
  /// A figure for a person, as in `23.1 MiB`, `1.3 KiB/iteration`, `12.0 MiB/s`, `250 ms` or `17 items`.
  package static func text(of value: Double, unit: String) -> String {
    guard isMemory(unit) else { return ownText(of: value, unit: unit) }
    let isRate = unit != "bytes" && value.magnitude < 1024
    let amount = isRate ? "\(Decimals.text(value, places: 1)) B" : Bytes(clampedFrom: value).description
    return amount + suffix(of: unit)
  }

  /// What memory is counted per in it, as a person reads it: `/s` or `/iteration`; empty for plain bytes, and for what is
  /// no memory.
  package static func suffix(of unit: String) -> String {
    guard unit.hasPrefix("bytes/") else { return "" }
    return unit == "bytes/second" ? "/s" : String(unit.dropFirst(5))
  }

  /// The same for a narrow column or an axis: `/s` or `/iter`.
  package static func shortSuffix(of unit: String) -> String {
    suffix(of: unit).replacing("/iteration", with: "/iter")
  }

  /// Whether figures in it are amounts of memory, or are counted per something, as in `bytes/second`.
  package static func isMemory(_ unit: String) -> Bool {
    unit == "bytes" || unit.hasPrefix("bytes/")
  }

  /// A figure that is none of memory.
  package static func ownText(of value: Double, unit: String) -> String {
    guard unit == "seconds" else { return Decimals.short(value) + (unit.isEmpty ? "" : " \(unit)") }
    // Below a millisecond in its fractions, since not every terminal shows a `µ`.
    let isShort = value != 0 && value.magnitude < 1
    return isShort ? Decimals.short(value * 1000) + " ms" : Decimals.short(value) + " s"
  }

  /// Whether a target may say so: 1 to 20 of `A-Z a-z 0-9 . _ - / %`.
  package static func isValid(_ word: String) -> Bool {
    (1...20).contains(word.utf8.count)
      && word.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x25, 0x2d, 0x2e, 0x2f, 0x5f: true
        default: false
        }
      }
  }

  /// What a target's word for a unit means: how figures in it are named, and what they have to be multiplied by.
  ///
  /// Sizes become bytes and spans of time seconds, so that a target may tell now KiB and now MiB.
  static func reported(_ word: String) -> (unit: String, scale: Double) {
    if word == "bytes" || word == "byte" { return ("bytes", 1) }
    if let size = Bytes.units.first(where: { $0.name == word })?.size { return ("bytes", Double(size)) }
    if word == "seconds" || word == "second" { return ("seconds", 1) }
    let short = [("ns", 1.0), ("us", 1e3)] + Duration.unitSizes.map { ($0.name, $0.nanoseconds) }
    if let nanoseconds = short.first(where: { $0.0 == word })?.1 { return ("seconds", nanoseconds / 1e9) }
    return (word, 1)
  }
}
