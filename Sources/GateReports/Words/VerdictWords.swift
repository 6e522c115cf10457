import GateCore

extension Verdict {
  var tone: Tone {
    switch self {
    case .pass, .improved: .good
    case .regression, .failed: .bad
    case .inconclusive, .noBaseline: .unsure
    case .skipped: .faint
    }
  }

  /// A mark for the eye; the word beside it says the same.
  func symbol(_ style: TerminalStyle) -> String {
    switch self {
    case .pass, .improved: style.unicode ? "✓" : "+"
    case .regression, .failed: style.unicode ? "✗" : "x"
    case .inconclusive, .noBaseline: "?"
    case .skipped: "-"
    }
  }

  func heading(_ style: TerminalStyle) -> String {
    "\(symbol(style)) \(rawValue)"
  }
}
