/// Texts in a YAML file (YAML 1.2.2, 7.3).
enum YAMLText {
  private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-=+@".unicodeScalars)

  /// The text as a plain scalar if it can only be read as this text, else in double quotes.
  static func word(_ text: String) -> String {
    let words: Set = ["null", "true", "false", "-", "---", "...", "=", "."]
    let startsPlain = text.unicodeScalars.first.map { $0.properties.isAlphabetic || "/._-".unicodeScalars.contains($0) }
    if startsPlain == true, text.unicodeScalars.allSatisfy(plain.contains), !words.contains(text.lowercased()) {
      return text
    }
    return "\"" + text.unicodeScalars.map(escaped).joined() + "\""
  }

  /// A shell command as an item of a list: without quotes where none of its characters means something to YAML.
  static func line(_ text: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy { $0 == " " || $0 == "&" || plain.contains($0) }
    return isPlain && text.first?.isLetter == true ? text : word(text)
  }

  /// A time in whole seconds.
  static func time(_ time: Duration) -> String { "\(time.components.seconds)s" }

  static func list(_ words: [String]) -> String {
    "[" + words.map(word).joined(separator: ", ") + "]"
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": "\\\""
    case "\\": "\\\\"
    case "\n": "\\n"
    case "\t": "\\t"
    case _ where scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value):
      "\\x" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
    default: String(scalar)
    }
  }
}
