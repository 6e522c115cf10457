/// A field of a line that the supervisor, or a library in the target, wrote.
enum LineField {
  /// 16 TiB, so that sums cannot overflow.
  private static let largest: UInt64 = 1 << 44

  static func text(_ field: ArraySlice<UInt8>) -> String { String(decoding: field, as: UTF8.self) }

  /// A decimal number of at most `largest`, which may be negative; nil for other text.
  static func number(_ field: ArraySlice<UInt8>) -> Int64? { number(field, atMost: largest) }

  /// A time by CLOCK_MONOTONIC in nanoseconds, of at most 35 years.
  static func time(_ field: ArraySlice<UInt8>) -> Int64? { number(field, atMost: 1 << 60) }

  private static func number(_ field: ArraySlice<UInt8>, atMost largest: UInt64) -> Int64? {
    let digits = field.first == UInt8(ascii: "-") ? field.dropFirst() : field
    guard !digits.isEmpty else { return nil }
    var value: UInt64 = 0
    for byte in digits {
      let digit = UInt64(byte &- UInt8(ascii: "0"))
      guard digit <= 9 else { return nil }
      value = value * 10 + digit
      guard value <= largest else { return nil }
    }
    return digits.count < field.count ? -Int64(value) : Int64(value)
  }
}
