import GateCore

extension ScenarioResult {
  /// The number of repetitions and why there are no more, as in `20 repetitions (5 to 20 allowed): decided`; nil if
  /// their number was fixed.
  var stopText: String? {
    guard let plan, let stop else { return nil }
    return "\(Format.count(repetitions.count, "repetition")) (\(plan.min) to \(plan.max) allowed): \(stop.displayText)"
  }
}

extension RepetitionStop {
  fileprivate var displayText: String {
    switch self {
    case .failed: "the last one failed"
    case .decided: "decided"
    case .moreWouldNotHelp: "more would not help"
    case .maximumReached: "still undecided"
    }
  }
}
