extension TerminalText {
  /// The text with a backslash in each part that a CI system would obey as a command in a log.
  ///
  /// To be applied to finished lines: wrapping and removed characters can move a command to the start of a line. These
  /// are commands: `::NAME::` at a line's start (GitHub), `##NAME[…]` anywhere (GitHub, Azure Pipelines,
  /// TeamCity), `section_start:` and `section_end:` (GitLab), and `---`, `+++`, `~~~` and `^^^` at a line's start
  /// (Buildkite).
  static func withoutCommands(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      var result = String.UnicodeScalarView()
      var rest = line.unicodeScalars[...]
      let margin = leadingMargin(of: rest)
      let start = rest[margin.endIndex...]
      if start.starts(with: "::".unicodeScalars) || !margin.contains(where: isFrame) && isGroup(start) {
        result.append(contentsOf: margin)
        result.append("\\")
        rest = start
      }
      while let scalar = rest.popFirst() {
        if isCommand(result, followedBy: scalar, rest) { result.append("\\") }
        result.append(scalar)
      }
      return String(result)
    }.joined(separator: "\n")
  }

  private static let groups = ["---", "+++", "~~~", "^^^"]

  /// Blanks, the frame of quoted output and colours; what GitHub trims includes all Unicode blanks.
  private static func leadingMargin(of line: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
    var rest = line
    while let scalar = rest.first {
      if scalar == "\u{1b}", let end = rest.firstIndex(of: "m") {
        rest = rest[end...].dropFirst()
      } else if scalar.properties.isWhitespace || isFrame(scalar) {
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    return line[..<rest.startIndex]
  }

  private static func isFrame(_ scalar: Unicode.Scalar) -> Bool {
    "│•".unicodeScalars.contains(scalar)
  }

  private static func isGroup(_ text: Substring.UnicodeScalarView) -> Bool {
    groups.contains { text.starts(with: $0.unicodeScalars) }
  }

  /// `##`, any letters and `[`, of which the first `#` is before the scalar; or `section_start:` and `section_end:`, of
  /// which the first word is.
  private static func isCommand(
    _ before: String.UnicodeScalarView,
    followedBy scalar: Unicode.Scalar,
    _ rest: Substring.UnicodeScalarView
  ) -> Bool {
    switch scalar {
    case "#": before.last == "#" && rest.drop { $0.properties.isAlphabetic }.first == "["
    case "_":
      before.suffix(7).elementsEqual("section".unicodeScalars)
        && ["start:", "end:"].contains { rest.starts(with: $0.unicodeScalars) }
    default: false
    }
  }
}
