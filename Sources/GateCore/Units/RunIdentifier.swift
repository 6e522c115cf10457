package import FoundationEssentials

/// Unique IDs of runs and deliveries.
package enum RunIdentifier {
  /// A version 7 UUID (RFC 9562): 48 bits of milliseconds since 1970, then random bits, so that IDs sort by time.
  package static func make(at date: Date, random: inout some RandomNumberGenerator) -> String {
    let milliseconds = UInt64(max(0, date.timeIntervalSince1970 * 1000)) & 0xffff_ffff_ffff
    return make(milliseconds, UInt64.random(in: 0...0xfff, using: &random), .random(in: 0...UInt64.max, using: &random))
  }

  /// The ID of a run of another program: the same for the same time and text.
  package static func make(at date: Date, of text: String) -> String {
    let milliseconds = UInt64(max(0, date.timeIntervalSince1970 * 1000)) & 0xffff_ffff_ffff
    let hash = UInt64(StableHash.hexadecimal(of: text), radix: 16) ?? 0
    return make(milliseconds, hash >> 52, hash)
  }

  private static func make(_ milliseconds: UInt64, _ first: UInt64, _ second: UInt64) -> String {
    let high = milliseconds << 16 | 0x7000 | first
    let low = 0x8000_0000_0000_0000 | second & 0x3fff_ffff_ffff_ffff
    let digits = padded(high) + padded(low)
    let cuts = [0, 8, 12, 16, 20, 32]
    return zip(cuts, cuts.dropFirst())
      .map { digits[digits.index(digits.startIndex, offsetBy: $0)..<digits.index(digits.startIndex, offsetBy: $1)] }
      .joined(separator: "-")
  }

  private static func padded(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
