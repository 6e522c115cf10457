import GateCore

extension Unavailability {
  /// The cause and the remedy, as a clause about the metric.
  func text(for metric: MetricName) -> String {
    switch self {
    case .noPhaseStarted: "no phase was started"
    case .notReported(0, _): "the target did not report it (`value \(metric.reportedName) NUMBER UNIT`)"
    case .notReported(let count, let total):
      "the target reported it (`value \(metric.reportedName) NUMBER UNIT`) in only \(count) of \(total) repetitions"
    case .tooFewReadings: "the target ended before \(Recording.fewestReadings) readings of it were made"
    case .tooFewFaultReadings: "the target's page faults were read fewer than 2 times"
    case .iterationsTooFast:
      "the iterations were too short for their levels to be read; do more work in each iteration"
    case .seldomSteady(let count, let total):
      "resident memory became steady in only \(count) of \(total) repetitions; \(Self.remedy)"
    case .neverSteady(let steadiness):
      [steadiness.displayText, Self.remedy].compactMap(\.self).joined(separator: "; ")
    }
  }

  private static let remedy = "a longer scenario may help"
}

extension Steadiness {
  /// Why there is no steady state, as a clause; nil if there is one.
  var displayText: String? {
    switch self {
    case .steady: nil
    case .unsteady: "resident memory never became steady"
    case .drifting: "resident memory rose or fell continuously"
    case .tooShort: "fewer than \(Steadiness.fewestReadings) readings of it were made"
    }
  }
}
