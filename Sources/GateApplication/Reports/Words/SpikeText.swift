import GateCore

extension RepetitionResult.Spike {
  /// The time of the spike, as in `in phase load, between 0.800 s and 0.810 s, while a CPU was busy`.
  var circumstances: String {
    let parts = [
      phase.map { "in phase \($0)" }, timeText(after: after, before: before), isBusy ? "while a CPU was busy" : nil,
    ]
    return TerminalText.safe(parts.compactMap(\.self).joined(separator: ", "))
  }
}

/// As in `between 0.800 s and 0.810 s`, or `at 0.800 s`.
func timeText(after: Duration, before: Duration) -> String {
  after < before
    ? "between \(Format.instant(after)) and \(Format.instant(before))" : "at \(Format.instant(before))"
}
