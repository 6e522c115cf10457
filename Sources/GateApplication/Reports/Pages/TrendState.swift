import GateCore

/// The state of a series, the most urgent first.
enum TrendState: Int, Comparable, CaseIterable {
  case regression, failed, unexplainedRise, creep, inconclusive, noBaseline, improved, pass

  init(of series: ScenarioSeries) {
    switch series.runs.last?.verdict {
    case .regression: self = .regression
    case .failed: self = .failed
    case _ where series.metrics.contains { $0.shifts.contains(where: \.isUnexplainedRise) }: self = .unexplainedRise
    case _ where series.metrics.contains { $0.creep != nil }: self = .creep
    case .inconclusive: self = .inconclusive
    case .noBaseline: self = .noBaseline
    case .improved: self = .improved
    case .pass, .skipped, nil: self = .pass
    }
  }

  static func < (lhs: TrendState, rhs: TrendState) -> Bool {
    lhs.rawValue < rhs.rawValue
  }

  var needsAttention: Bool { self < .improved }

  /// Its text, a symbol with the same meaning, and its class in `page.css`.
  var display: (text: String, sign: String, style: String) {
    switch self {
    case .regression: ("regression", "✗", "verdict-failed")
    case .failed: ("failed", "✗", "verdict-failed")
    case .unexplainedRise: ("unexplained rise", "▲", "verdict-inconclusive")
    case .creep: ("creep", "↗", "verdict-inconclusive")
    case .inconclusive: ("inconclusive", "?", "verdict-inconclusive")
    case .noBaseline: ("no baseline", "?", "verdict-inconclusive")
    case .improved: ("improved", "▼", "verdict-improved")
    case .pass: ("pass", "✓", "verdict-pass")
    }
  }
}
