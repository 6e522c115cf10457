import GateCore

/// The lines of a terminal report while it is written.
struct TerminalPage {
  let style: TerminalStyle
  private(set) var lines: [String] = []

  init(_ style: TerminalStyle) {
    self.style = style
  }

  /// The finished text, without commands for a CI system; ends in a newline unless nothing was written.
  var text: String {
    TerminalText.withoutCommands(lines.map { $0 + "\n" }.joined())
  }

  /// Writes one line of any width.
  mutating func line(_ text: String) {
    lines.append(TerminalText.withPlainSpaces(text))
  }

  /// Writes the verdict on everything, the last line.
  mutating func closing(_ text: String, _ tone: Tone) {
    line("\(Tool.name): " + style.painted(text, tone))
  }

  mutating func lines(_ texts: [String]) {
    for text in texts { line(text) }
  }

  /// Writes an empty line, unless the last line is empty or there is none.
  mutating func gap() {
    if let last = lines.last, !last.isEmpty { lines.append("") }
  }

  /// Writes prose, wrapped; lines after the first are indented as far as the text after the label.
  mutating func paragraph(_ text: String, indent: Int, label: String = "", tone: Tone? = nil) {
    let margin = indent + TerminalText.columns(label)
    // Sentences do not depend on the terminal.
    let text = style.unicode ? text : TerminalText.withoutArrows(text)
    for (index, part) in TerminalText.wrapped(text, to: style.width - margin).enumerated() {
      let head = index == 0 ? spaces(indent) + style.painted(label, .faint) : spaces(margin)
      line(head + style.painted(part, tone))
    }
  }

  /// Writes a command to copy, broken between words with a backslash; words are never cut.
  mutating func command(_ words: [String], indent: Int) {
    var current = spaces(indent)
    var isFresh = true
    for word in words.map(ShellWords.quoted) {
      if !isFresh, TerminalText.columns(current) + TerminalText.columns(word) + 3 > style.width {
        lines.append(current + " \\")
        current = spaces(indent + 2)
        isFresh = true
      }
      current += (isFresh ? "" : " ") + word
      isFresh = false
    }
    lines.append(current)
  }

  /// Writes sentences, each behind a bullet.
  mutating func list(_ sentences: [String]) {
    for text in sentences { paragraph(text, indent: 2, label: style.unicode ? "• " : "* ") }
  }

  private func spaces(_ count: Int) -> String {
    String(repeating: " ", count: count)
  }
}
