package import FoundationEssentials

/// Unique IDs of runs and deliveries.
package enum RunIdentifier {
  /// A version 7 UUID (RFC 9562): 48 bits of milliseconds since 1970, then random bits, so that IDs sort by time.
  package static func make(at date: Date, random: inout some RandomNumberGenerator) -> String {
    let milliseconds = UInt64(max(0, date.timeIntervalSince1970 * 1000)) & 0xffff_ffff_ffff
    let high = milliseconds << 16 | 0x7000 | UInt64.random(in: 0...0xfff, using: &random)
    let low = 0x8000_0000_0000_0000 | UInt64.random(in: 0...0x3fff_ffff_ffff_ffff, using: &random)
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
