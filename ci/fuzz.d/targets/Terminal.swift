import GateCore
import LinuxSystem

@testable import GateApplication

extension FuzzTarget {
  /// The output of a target, and any other text that a report quotes.
  static let terminal = FuzzTarget("terminal") { input in
    let text = String(systemBytes: input)
    let width = 40 + Int(input.first ?? 0) % 160
    for colour in [false, true] {
      var page = TerminalPage(TerminalStyle(width: width, colour: colour, unicode: width.isMultiple(of: 2)))
      OutputLines.write(text, lines: 12, to: &page)
      page.paragraph(TerminalText.safe(text), indent: 2, label: "note: ", tone: .bad)
      page.command(["highwater", text], indent: 4)
      page.list([TerminalText.safe(text)])
      try PrintedText.expectHarmless(colour ? withoutColours(page.text) : page.text)
    }
    try expectFitting(TerminalText.safe(text), width: width)
    let safe = TerminalText.withoutCommands(TerminalText.safe(text))
    try promise(TerminalText.withoutCommands(safe) == safe, "a harmless text is changed again: \(safe)")
  }

  private static func expectFitting(_ text: String, width: Int) throws {
    let cut = TerminalText.cut(text, to: width, at: .middle, mark: "…")
    try promise(TerminalText.columns(cut) <= width, "a cut text is wider than \(width): \(cut)")
    let lines = TerminalText.wrapped(text, to: width)
    try promise(lines.allSatisfy { TerminalText.columns($0) <= width }, "a line is wider than \(width): \(lines)")
    try promise(lines.joined().filter { $0 != " " } == text.filter { $0 != " " }, "wrapping changes the text: \(text)")
  }

  /// The text without the colours of the report itself.
  private static func withoutColours(_ text: String) -> String {
    text.split(separator: "\u{1b}[", omittingEmptySubsequences: false).enumerated()
      .map { $0 == 0 ? $1 : $1.drop { $0 != "m" }.dropFirst() }.joined()
  }
}
