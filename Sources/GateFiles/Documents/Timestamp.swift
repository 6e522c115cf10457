import FoundationEssentials

/// Instants as result and baseline files write them: ISO 8601 in UTC with milliseconds, `2026-01-02T03:04:05.678Z`.
///
/// Whole milliseconds are counted, so that reading and writing again changes no digit. Days are counted as in Howard
/// Hinnant's "chrono-Compatible Low-Level Date Algorithms" (https://howardhinnant.github.io/date_algorithms.html).
enum Timestamp {
  private static let millisecondsPerDay: Int64 = 86_400_000
  /// 9999-12-31T23:59:59.999Z.
  private static let latest: Int64 = 253_402_300_799_999

  /// The text of an instant; those before 1970 and after 9999 are moved to the nearest that there is.
  static func text(of date: Date) -> String {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    let instant = Int64(max(0, min(Double(latest), milliseconds)))
    let (days, time) = instant.quotientAndRemainder(dividingBy: millisecondsPerDay)
    let (year, month, day) = civil(fromDays: days)
    let calendar = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    let clock = [time / 3_600_000, time / 60_000 % 60, time / 1000 % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(calendar)T\(clock).\(padded(time % 1000, 3))Z"
  }

  /// Reads `YYYY-MM-DDThh:mm:ss`, then a fraction or none, then `Z` or an offset such as `+02:00`.
  ///
  /// - Returns: nil where the text is something else or names a day that there is not.
  static func date(from text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.count <= 40 else { return nil }
    let separators = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] as [(Int, Unicode.Scalar)]
    guard separators.allSatisfy({ bytes[$0.0] == UInt8(ascii: $0.1) }) else { return nil }
    guard
      let year = number(bytes[0..<4], in: 1970...9999), let month = number(bytes[5..<7], in: 1...12),
      let day = number(bytes[8..<10], in: 1...31), let hour = number(bytes[11..<13], in: 0...23),
      let minute = number(bytes[14..<16], in: 0...59), let second = number(bytes[17..<19], in: 0...60)
    else { return nil }
    let days = days(year: year, month: month, day: day)
    guard civil(fromDays: days) == (year, month, day) else { return nil }
    guard let (fraction, zone) = fraction(bytes[19...]), let offset = offset(zone) else { return nil }
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset * 60
    return Date(timeIntervalSince1970: Double(seconds * 1000 + fraction) / 1000)
  }

  /// Splits `.678Z` into milliseconds and the rest.
  private static func fraction(_ bytes: ArraySlice<UInt8>) -> (Int64, ArraySlice<UInt8>)? {
    guard bytes.first == UInt8(ascii: ".") else { return (0, bytes) }
    let digits = bytes.dropFirst().prefix { (0x30...0x39).contains($0) }
    guard !digits.isEmpty, digits.count <= 9 else { return nil }
    let milliseconds = digits.prefix(3) + Array(repeating: 0x30, count: max(0, 3 - digits.count))
    guard let value = number(milliseconds[...], in: 0...999) else { return nil }
    return (value, bytes.dropFirst(1 + digits.count))
  }

  /// The minutes that a zone is ahead of UTC.
  private static func offset(_ zone: ArraySlice<UInt8>) -> Int64? {
    if zone.elementsEqual("Z".utf8) { return 0 }
    let parts = Array(zone)
    guard parts.count == 6, parts[3] == UInt8(ascii: ":"), "+-".utf8.contains(parts[0]) else { return nil }
    guard
      let hours = number(parts[1..<3], in: 0...23), let minutes = number(parts[4..<6], in: 0...59)
    else { return nil }
    return (parts[0] == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
  }

  private static func number(_ digits: ArraySlice<UInt8>, in range: ClosedRange<Int64>) -> Int64? {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let value = digits.reduce(0 as Int64) { $0 * 10 + Int64($1 - 0x30) }
    return range.contains(value) ? value : nil
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Days since 1970-01-01; years from 1970.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = shifted.quotientAndRemainder(dividingBy: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date of a day since 1970-01-01, not before it.
  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }
}
