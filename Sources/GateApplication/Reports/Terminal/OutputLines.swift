/// The last lines of a program's output, safe to print.
enum OutputLines {
  /// The lines without control characters and colours; tabs become spaces, and empty lines at the end are removed.
  static func of(_ output: String) -> [String] {
    let plain = withoutColours(output)
    let lines = plain.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      TerminalText.safe(String(line.flatMap { $0 == "\t" ? "    " : String($0) }))
    }
    return Array(lines[..<(lines.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0)])
  }

  /// Writes the last lines of an output; nothing if there are none.
  static func write(_ output: String, lines most: Int, to page: inout TerminalPage) {
    let lines = of(output)
    let shown = lines.suffix(most)
    let style = page.style
    if shown.count < lines.count {
      page.paragraph("last \(shown.count) of \(lines.count) stored lines of output:", indent: 2, tone: .faint)
    } else if !shown.isEmpty {
      page.paragraph("last output:", indent: 2, tone: .faint)
    }
    let bar = style.unicode ? "│ " : "| "
    for line in shown {
      page.line("  " + style.painted(bar, .faint) + TerminalText.cut(line, to: style.width - 4, mark: style.ellipsis))
    }
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
