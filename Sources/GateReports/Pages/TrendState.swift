import GateCore

/// Whether somebody should look at a scenario now, the most urgent first.
enum TrendState: Int, Comparable, CaseIterable {
  case regression, failed, openStep, creep, inconclusive, noBaseline, improved, fine

  init(of course: ScenarioCourse) {
    switch course.entries.last?.verdict {
    case .regression: self = .regression
    case .failed: self = .failed
    case _ where course.metrics.contains { $0.steps.contains(where: \.isOpen) }: self = .openStep
    case _ where course.metrics.contains { $0.creep != nil }: self = .creep
    case .inconclusive: self = .inconclusive
    case .noBaseline: self = .noBaseline
    case .improved: self = .improved
    case .pass, .skipped, nil: self = .fine
    }
  }

  static func < (lhs: TrendState, rhs: TrendState) -> Bool {
    lhs.rawValue < rhs.rawValue
  }

  var needsLook: Bool { self < .improved }

  var words: String {
    switch self {
    case .regression: "regression"
    case .failed: "failed"
    case .openStep: "open step"
    case .creep: "creep"
    case .inconclusive: "inconclusive"
    case .noBaseline: "no baseline"
    case .improved: "improved"
    case .fine: "fine"
    }
  }

  /// A mark for the eye; the words beside it say the same.
  var sign: String {
    switch self {
    case .regression, .failed: "✗"
    case .openStep: "▲"
    case .creep: "↗"
    case .inconclusive, .noBaseline: "?"
    case .improved: "▼"
    case .fine: "✓"
    }
  }

  /// The class of `page.css` that colours it.
  var style: String {
    switch self {
    case .regression, .failed: "verdict-failed"
    case .openStep, .creep, .inconclusive, .noBaseline: "verdict-inconclusive"
    case .improved: "verdict-improved"
    case .fine: "verdict-pass"
    }
  }
}
