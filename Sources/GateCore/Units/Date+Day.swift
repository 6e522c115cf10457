package import FoundationEssentials

extension Date {
  /// The day in UTC, as in `2026-01-02`.
  package var day: String {
    formatted(Date.ISO8601FormatStyle().year().month().day())
  }
}
