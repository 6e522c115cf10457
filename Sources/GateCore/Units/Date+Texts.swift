package import FoundationEssentials

extension Date {
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
