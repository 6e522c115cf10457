/// What the terminal or log that a report is written for can show.
package struct TerminalStyle: Sendable, Equatable {
  /// In columns; 40 to 200.
  package let width: Int
  package let colour: Bool
  /// Whether more than ASCII can be shown; without it, reports themselves write ASCII only.
  package let unicode: Bool

  package init(width: Int = 80, colour: Bool = false, unicode: Bool = true) {
    self.width = min(max(width, 40), 200)
    self.colour = colour
    self.unicode = unicode
  }
}

/// What a colour stands for; the words beside it say the same.
enum Tone {
  case good, bad, unsure, faint, strong

  /// The parameter of the "select graphic rendition" sequence (ECMA-48, 8.3.117).
  fileprivate var code: Int {
    switch self {
    case .good: 32
    case .bad: 31
    case .unsure: 33
    case .faint: 2
    case .strong: 1
    }
  }
}

extension TerminalStyle {
  /// The text in a tone; the text itself where there is no colour, no tone or nothing to colour.
  func painted(_ text: String, _ tone: Tone?) -> String {
    guard colour, let tone, !text.isEmpty else { return text }
    return "\u{1b}[\(tone.code)m\(text)\u{1b}[0m"
  }

  var arrow: String { unicode ? "→" : "->" }
  var dash: String { unicode ? "–" : "-" }
  /// Between parts of a line that could each stand alone.
  var separator: String { unicode ? " · " : "; " }
  var ellipsis: String { unicode ? "…" : "..." }
}
