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

  /// A symbol beside the word, with the same meaning.
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

extension TerminalPage {
  /// Writes a verdict and the name of a scenario, on two lines if necessary.
  mutating func heading(_ head: String, _ tone: Tone, name: ScenarioName) {
    let name = TerminalText.safe(name.text)
    if TerminalText.columns(head) + 2 + TerminalText.columns(name) <= style.width {
      line(style.painted(head, tone) + "  " + style.painted(name, .strong))
    } else {
      paragraph(head, indent: 0, tone: tone)
      paragraph(name, indent: 2, tone: .strong)
    }
  }
}
