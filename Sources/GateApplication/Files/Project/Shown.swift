import LinuxSystem

/// User text in a form for messages.
enum Shown {
  /// At most 60 characters; characters that move the cursor, hide or reorder text become `\u{…}`.
  static func text(_ text: some StringProtocol) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
      guard count < 60 else { return result + "…" }
      result += isHarmless(scalar) ? String(scalar) : escape(scalar)
      count += 1
    }
    return result
  }

  /// Several words, each in backticks.
  static func list(_ words: [String]) -> String {
    words.map { "`\($0)`" }.joined(separator: ", ")
  }

  /// Whether a text has characters that no name, unit or path needs; a path may have bytes that are not UTF-8.
  static func hasHarmful(_ text: some StringProtocol) -> Bool {
    text.unicodeScalars.contains { !isHarmless($0) && $0.systemByte == nil }
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return (0x20...0x7e).contains(scalar.value) }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
    default: return true
    }
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    if let byte = scalar.systemByte { return "\\x" + String(byte, radix: 16) }
    return switch scalar {
    case "\n": "\\n"
    case "\t": "\\t"
    case "\r": "\\r"
    default: "\\u{\(String(scalar.value, radix: 16))}"
    }
  }
}

extension Shown {
  /// A full path, with characters escaped that could confuse a terminal.
  static func path(_ path: String) -> String {
    hasHarmful(path) || path.hasSystemBytes ? path.map { text(String($0)) }.joined() : path
  }
}
