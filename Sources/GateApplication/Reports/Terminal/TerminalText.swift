import LinuxSystem

/// Text for a terminal: escaped, measured, cut, padded and wrapped.
enum TerminalText {
  /// The text with all characters escaped that could move the cursor, change a colour or reorder text.
  ///
  /// Control characters become `\n`, `\x1b` and so on; invisible format characters, including bidirectional ones,
  /// become `\u{202e}`; the joiner of emoji stays. Bytes that are not UTF-8 become `\xff`. Long sequences of combining marks are cut, since they would cover
  /// other lines.
  static func safe(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let byte = scalar.systemByte {
        result += "\\x" + String(byte, radix: 16)
        continue
      }
      switch (scalar, scalar.properties.generalCategory) {
      case ("\n", _): result += "\\n"
      case ("\r", _): result += "\\r"
      case ("\t", _): result += "\\t"
      case (_, .control): result += "\\x" + hexadecimal(scalar, digits: 2)
      case ("\u{200d}", _): result.unicodeScalars.append(scalar)
      case (_, .format), (_, .lineSeparator), (_, .paragraphSeparator):
        result += "\\u{\(hexadecimal(scalar, digits: 4))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    guard result.contains(where: { $0.unicodeScalars.count > mostScalars }) else { return result }
    return result.reduce(into: "") { $0.unicodeScalars.append(contentsOf: $1.unicodeScalars.prefix(mostScalars)) }
  }

  /// Enough for a family of four with skin tones.
  private static let mostScalars = 11

  private static func hexadecimal(_ scalar: Unicode.Scalar, digits: Int) -> String {
    let text = String(scalar.value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  /// The number of columns: one for each character, two for wide East Asian characters and most emoji.
  static func columns(_ text: some StringProtocol) -> Int {
    text.reduce(0) { $0 + columns($1) }
  }

  private static func columns(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first, first.value >= 0x1100 else { return 1 }
    return wide.contains { $0.contains(first.value) } || character.unicodeScalars.contains("\u{fe0f}") ? 2 : 1
  }

  /// The blocks that are wide throughout (Unicode Standard Annex 11, East Asian Width).
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfaff,
    0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1faff,
    0x20000...0x3fffd,
  ]

  /// Keeps a number and its unit on one line; becomes a plain space when the line is written.
  static let noBreakSpace: Character = "\u{a0}"

  static func withPlainSpaces(_ text: String) -> String {
    String(text.map { $0 == noBreakSpace ? " " : $0 })
  }

  /// The report's own text in ASCII.
  static func withoutArrows(_ text: String) -> String {
    [("→", "->"), ("←", "<-"), ("…", "...")].reduce(text) { $0.replacing($1.0, with: $1.1) }
  }

  enum Cut {
    case start, middle, end
  }

  /// The text in at most this many columns, with the mark where it was cut.
  static func cut(_ text: String, to limit: Int, at place: Cut = .end, mark: String) -> String {
    guard columns(text) > limit else { return text }
    let room = max(0, limit - columns(mark))
    let tail =
      switch place {
      case .start: room
      case .middle: room / 2
      case .end: 0
      }
    let end = String(fitting(text.reversed(), in: tail).reversed())
    return String(fitting(Array(text), in: room - tail)) + mark + end
  }

  private static func fitting(_ characters: [Character], in limit: Int) -> [Character] {
    var used = 0
    return Array(
      characters.prefix { character in
        used += columns(character)
        return used <= limit
      }
    )
  }

  enum Side {
    case left, right
  }

  /// The text padded with spaces to the width; a wider text is unchanged.
  static func padded(_ text: String, to width: Int, on side: Side = .left) -> String {
    let spaces = String(repeating: " ", count: max(0, width - columns(text)))
    return side == .left ? text + spaces : spaces + text
  }

  /// The text in lines of at most this many columns, broken at spaces; a longer word is broken where necessary.
  ///
  /// Lines are not broken at a ``noBreakSpace``.
  static func wrapped(_ text: String, to width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, columns(line) + 1 + columns(word) <= width {
        line += " " + word
        continue
      }
      if !line.isEmpty { lines.append(line) }
      let pieces = broken(String(word), to: width)
      lines += pieces.dropLast()
      line = pieces.last ?? ""
    }
    return line.isEmpty ? lines : lines + [line]
  }

  private static func broken(_ word: String, to width: Int) -> [String] {
    var pieces: [String] = []
    var rest = Array(word)
    while !rest.isEmpty {
      let piece = fitting(rest, in: max(2, width))
      pieces.append(String(piece))
      rest.removeFirst(piece.count)
    }
    return pieces
  }
}
