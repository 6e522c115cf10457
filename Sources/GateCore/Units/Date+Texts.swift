package import FoundationEssentials

extension Date {
  /// The nearest time of the years 1970 to 9999, which all files can have; the clock of a machine may be set to any other.
  package var inFileYears: Date {
    min(max(self, Date(timeIntervalSince1970: 0)), Date(timeIntervalSince1970: 253_402_300_799))
  }

  /// The day in UTC, as in `2026-01-02`.
  package var day: String {
    formatted(Date.ISO8601FormatStyle().year().month().day())
  }

  /// The minute in UTC, as in `2026-01-02 03:04`.
  package var minute: String {
    let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space).year().month().day()
    return String(formatted(style.time(includingFractionalSeconds: false)).prefix(16))
  }
}
