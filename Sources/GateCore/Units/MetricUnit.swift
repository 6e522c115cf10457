/// The unit of a value as in the result file: `bytes`, `bytes/second`, `bytes/iteration`, `seconds`, or a reported unit
/// such as `items`.
package enum MetricUnit {
  /// A value as printed in reports, as in `23.1 MiB`, `1.3 KiB/iteration`, `12.0 MiB/s`, `250 ms` or `17 items`.
  package static func text(of value: Double, unit: String) -> String {
    guard isMemory(unit) else { return ownText(of: value, unit: unit) }
    let isRate = unit != "bytes" && value.magnitude < 1024
    let amount = isRate ? "\(Decimals.text(value, places: 1)) B" : Bytes(clampedFrom: value).description
    return amount + suffix(of: unit)
  }

  /// The denominator of a memory rate as printed in reports: `/s` or `/iteration`; empty for all other units.
  package static func suffix(of unit: String) -> String {
    guard unit.hasPrefix("bytes/") else { return "" }
    return unit == "bytes/second" ? "/s" : String(unit.dropFirst(5))
  }

  /// The same for a narrow column or an axis: `/s` or `/iter`.
  package static func shortSuffix(of unit: String) -> String {
    suffix(of: unit).replacing("/iteration", with: "/iter")
  }

  /// Whether it is an amount or a rate of memory, as in `bytes/second`.
  package static func isMemory(_ unit: String) -> Bool {
    unit == "bytes" || unit.hasPrefix("bytes/")
  }

  /// A value that is not an amount of memory.
  package static func ownText(of value: Double, unit: String) -> String {
    guard unit == "seconds" else {
      let name = value == 1 && unit.hasSuffix("s") && !unit.contains("/") ? String(unit.dropLast()) : unit
      return Decimals.short(value) + (name.isEmpty ? "" : " \(name)")
    }
    // As a fraction of a millisecond, since not every terminal shows a `µ`.
    let isShort = value != 0 && value.magnitude < 1
    return isShort ? Decimals.short(value * 1000) + " ms" : Decimals.short(value) + " s"
  }

  /// Whether values may have this unit, which a target or another file may name: 1 to 20 of `A-Z a-z 0-9 . _ - / %`.
  package static func isValid(_ word: String) -> Bool {
    (1...20).contains(word.utf8.count)
      && word.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x25, 0x2d, 0x2e, 0x2f, 0x5f: true
        default: false
        }
      }
  }

  /// The stored unit for a unit reported by a target, and the factor to multiply values by.
  ///
  /// Sizes become bytes and durations become seconds, so that a target may report KiB first and MiB later.
  static func reported(_ word: String) -> (unit: String, scale: Double) {
    if word == "bytes" || word == "byte" { return ("bytes", 1) }
    if let size = Bytes.units.first(where: { $0.name == word })?.size { return ("bytes", Double(size)) }
    if word == "seconds" || word == "second" { return ("seconds", 1) }
    let short = [("ns", 1.0), ("us", 1e3)] + Duration.unitSizes.map { ($0.name, $0.nanoseconds) }
    if let nanoseconds = short.first(where: { $0.0 == word })?.1 { return ("seconds", nanoseconds / 1e9) }
    return (word, 1)
  }
}
