/// The last lines of a program's output, as they may be shown.
enum OutputTail {
  /// The lines, made harmless; colours are taken out, tabs become spaces, empty lines at the end are left out.
  static func lines(_ output: String) -> [String] {
    let plain = withoutColours(output)
    let lines = plain.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      TerminalText.safe(String(line.flatMap { $0 == "\t" ? "    " : String($0) }))
    }
    return Array(lines[..<(lines.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0)])
  }

  /// The text without `ESC [ … m` ("select graphic rendition", ECMA-48, 8.3.117) and with `\n` for `\r\n`.
  private static func withoutColours(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scalar == "\u{1b}", rest.first == "[" {
        let parameters = rest.dropFirst().prefix { ("0"..."9").contains($0) || $0 == ";" || $0 == ":" }
        let after = rest[parameters.endIndex...]
        if after.first == "m" {
          rest = after.dropFirst()
          continue
        }
      }
      if scalar == "\r", rest.first == "\n" { continue }
      result.append(scalar)
    }
    return String(result)
  }
}
