/// An amount of memory, or the difference of two amounts.
package struct Bytes: Sendable, Hashable, Comparable, Codable {
  package let count: Int64

  package init(_ count: Int64) {
    self.count = count
  }

  package static let zero = Bytes(0)

  /// The size of a page of memory if it is not known: that of x86-64, and usually of ARM64.
  package static let usualPage = Bytes(4096)

  package static func kibibytes(_ count: Int64) -> Bytes {
    Bytes(count * 1024)
  }

  package static func mebibytes(_ count: Int64) -> Bytes {
    Bytes(count * 1024 * 1024)
  }

  package static func < (lhs: Bytes, rhs: Bytes) -> Bool {
    lhs.count < rhs.count
  }

  package static func + (lhs: Bytes, rhs: Bytes) -> Bytes {
    Bytes(lhs.count + rhs.count)
  }

  package static func - (lhs: Bytes, rhs: Bytes) -> Bytes {
    Bytes(lhs.count - rhs.count)
  }
}

extension Bytes {
  /// The units of the project file and their sizes in bytes.
  package static let units: [(name: String, size: Int64)] = [
    ("B", 1),
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
  ]

  /// The largest amount in a file: 1 EiB, so that the sum of a few cannot overflow.
  package static let largest = Bytes(1 << 60)

  /// Parses an amount with its unit, as in `512KiB` or `1.5 GB`.
  ///
  /// - Throws: the error, with valid examples.
  package init(parsing text: String) throws(UnitError) {
    let (number, unit) = try UnitError.split(text, kind: "size", units: Self.units.map(\.name), example: "512KiB")
    let size = Self.units.first { $0.name == unit }?.size ?? 1
    let amount = number * Double(size)
    guard amount <= Double(Self.largest.count) else {
      throw UnitError(problem: "the size `\(text)` is too large", hint: "the largest is 1073741824GiB")
    }
    self.init(Int64(amount.rounded()))
  }
}

extension Bytes {
  /// The exact amount as written in a project file, in the largest binary unit that gives a whole number: `64MiB`.
  package var spelled: String {
    let binary = Bytes.units.filter { $0.size & ($0.size - 1) == 0 }
    let unit = binary.last { count % $0.size == 0 } ?? ("B", 1)
    return self == .zero ? "0B" : "\(count / unit.size)\(unit.name)"
  }
}

extension Bytes {
  /// The nearest whole number of bytes, limited to ``largest`` in both directions; zero for NaN.
  package init(clampedFrom value: Double) {
    let limit = Double(Bytes.largest.count)
    self.init(value.isNaN ? 0 : Int64(min(max(value, -limit), limit).rounded()))
  }
}

extension Bytes: CustomStringConvertible {
  /// The amount as printed in reports: `742 B`, `512 KiB`, `23.1 MiB`, `1.50 GiB`.
  package var description: String {
    let magnitude = Double(count.magnitude)
    let sign = count < 0 ? "-" : ""
    switch magnitude {
    case ..<1024: return "\(count) B"
    case ..<(1024 * 1024): return sign + Decimals.text(magnitude / 1024, places: count % 1024 == 0 ? 0 : 1) + " KiB"
    case ..<(1024 * 1024 * 1024): return sign + Decimals.text(magnitude / 1_048_576, places: 1) + " MiB"
    default: return sign + Decimals.text(magnitude / 1_073_741_824, places: 2) + " GiB"
    }
  }
}
