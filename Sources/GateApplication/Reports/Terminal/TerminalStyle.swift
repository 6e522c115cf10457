/// The capabilities of the terminal or log that a report is written for.
package struct TerminalStyle: Sendable, Equatable {
  /// In columns; 40 to 200.
  let width: Int
  package let colour: Bool
  /// Whether more than ASCII can be shown; otherwise the report's own text is ASCII.
  let unicode: Bool

  package init(width: Int = 80, colour: Bool = false, unicode: Bool = true) {
    self.width = min(max(width, 40), 200)
    self.colour = colour
    self.unicode = unicode
  }
}

/// The meaning of a colour; the words beside it have the same meaning.
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
  /// The text in a tone; unchanged without colour, tone or text.
  func painted(_ text: String, _ tone: Tone?) -> String {
    guard colour, let tone, !text.isEmpty else { return text }
    return "\u{1b}[\(tone.code)m\(text)\u{1b}[0m"
  }

  var arrow: String { unicode ? "→" : "->" }
  var dash: String { unicode ? "–" : "-" }
  /// Between independent parts of a line.
  var separator: String { unicode ? " · " : "; " }
  var ellipsis: String { unicode ? "…" : "..." }
}
