/// The lines of a terminal report while they are being written.
struct Page {
  let style: TerminalStyle
  private(set) var lines: [String] = []

  init(_ style: TerminalStyle) {
    self.style = style
  }

  /// The finished text; ends in a newline unless nothing was written.
  var text: String {
    lines.map { $0 + "\n" }.joined()
  }

  /// Writes a line that keeps its width by itself.
  mutating func line(_ text: String) {
    let plain = String(text.map { $0 == Format.space ? " " : $0 })
    lines.append(plain)
  }

  mutating func lines(_ texts: [String]) {
    for text in texts { line(text) }
  }

  /// Writes an empty line, unless one stands there already or nothing does.
  mutating func gap() {
    if let last = lines.last, !last.isEmpty { lines.append("") }
  }

  /// Writes prose, wrapped; lines after the first are indented as far as the text after the label.
  mutating func paragraph(_ text: String, indent: Int, label: String = "", tone: Tone? = nil) {
    let margin = indent + TerminalText.columns(label)
    // Sentences come with arrows from where they were made, which knows of no terminal.
    let text = style.unicode ? text : text.replacing("→", with: "->")
    for (index, part) in TerminalText.wrapped(text, to: style.width - margin).enumerated() {
      let head = index == 0 ? spaces(indent) + style.painted(label, .faint) : spaces(margin)
      line(head + style.painted(part, tone))
    }
  }

  /// Writes a command to copy: broken between words with a backslash, its words themselves never cut.
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

  private func spaces(_ count: Int) -> String {
    String(repeating: " ", count: count)
  }
}

/// Words of a command line as a person may copy them into a shell.
enum ShellWords {
  private static let plain = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-".unicodeScalars
  )

  /// The word, quoted for a POSIX shell where it must be.
  ///
  /// A word with control or format characters takes the form `$'…'` (POSIX.1-2024, 2.2.4), which bash, zsh and ksh read
  /// and a terminal shows harmlessly.
  static func quoted(_ word: String) -> String {
    if !word.isEmpty, word.unicodeScalars.allSatisfy(plain.contains) { return word }
    if TerminalText.safe(word) == word {
      return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    let bytes = word.utf8.map { byte in
      switch byte {
      case 0x27, 0x5c: "\\" + String(Unicode.Scalar(byte))
      case 0x20..<0x7f: String(Unicode.Scalar(byte))
      default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return "$'" + separated(bytes).joined() + "'"
  }

  /// Ends a `\xXX` before a character that some shells would read as one more digit.
  private static func separated(_ pieces: [String]) -> [String] {
    zip(pieces, [""] + pieces).map { piece, before in
      let isDigit = piece.count == 1 && piece.allSatisfy(\.isHexDigit)
      return isDigit && before.hasPrefix("\\x") ? "'$'" + piece : piece
    }
  }
}
