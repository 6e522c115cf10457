import Foundation
import LinuxSystem
import Testing

@testable import GateApplication

@Suite("Text for terminals")
struct TerminalTextTests {
  @Test(
    "Control and bidirectional characters are escaped; other text is unchanged",
    arguments: [
      ("plain é 漢字 👩‍👩‍👧‍👦", "plain é 漢字 👩‍👩‍👧‍👦"), ("a\nb\rc\td", "a\\nb\\rc\\td"),
      ("\u{1b}[31m", "\\x1b[31m"), ("\u{7f}\u{9b}\0", "\\x7f\\x9b\\x00"), ("\u{202e}abc", "\\u{202e}abc"),
      ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"), ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
      ("\u{feff}\u{200b}", "\\u{feff}\\u{200b}"), (String(systemBytes: [0x61, 0xff]), "a\\xff"), ("", ""),
    ]
  )
  func safe(text: String, shown: String) {
    #expect(TerminalText.safe(text) == shown)
  }

  @Test(
    "What a CI system would obey gets a backslash; other text is unchanged",
    arguments: [
      ("::error::x", "\\::error::x"), ("  │ ::error::x", "  │ \\::error::x"),
      ("\u{a0}\u{3000}::x", "\u{a0}\u{3000}\\::x"), ("a ::b", "a ::b"), ("std::vector", "std::vector"),
      ("\u{1b}[2m│ \u{1b}[0m::x", "\u{1b}[2m│ \u{1b}[0m\\::x"), ("x ##[error]y", "x #\\#[error]y"),
      ("##vso[a]##VSO[b]", "#\\#vso[a]#\\#VSO[b]"), ("###[a", "##\\#[a"), ("##[\u{301}a]", "#\\#[\u{301}a]"),
      ("##teamcity[x]", "#\\#teamcity[x]"), ("## a [b]", "## a [b]"),
      ("section_start:1:a", "section\\_start:1:a"), ("x section_end:1:a", "x section\\_end:1:a"),
      ("--- a\n+++ b\n ~~~\n^^^ +++", "\\--- a\n\\+++ b\n \\~~~\n\\^^^ +++"), ("│ --- a", "│ --- a"),
      ("a ---", "a ---"), ("", ""),
    ]
  )
  func commands(text: String, shown: String) {
    #expect(TerminalText.withoutCommands(text) == shown)
    #expect(TerminalText.withoutCommands(shown) == shown)
  }

  @Test("No width of the page makes a command of quoted text", arguments: [false, true])
  func wrappedCommands(colour: Bool) {
    let text = "main.c:3: Fatal error: could not parse the very long header given by ::error file=a.c::told ##[error]x"
    for width in 40...200 {
      var page = TerminalPage(TerminalStyle(width: width, colour: colour))
      page.paragraph(text, indent: 2, label: "note: ", tone: .bad)
      OutputLines.write(":\u{1b}[0m:error::x\n#\u{1b}[m#vso[y]\n\(text)", lines: 9, to: &page)
      for line in page.text.split(separator: "\n").map(withoutColours) {
        #expect(!line.drop { $0.isWhitespace || $0 == "│" }.hasPrefix("::"))
        #expect(!line.contains("##[") && !line.contains("##vso["))
      }
    }
  }

  private func withoutColours(_ line: Substring) -> String {
    line.split(separator: "\u{1b}[").enumerated().map { $0 == 0 ? $1 : $1.drop { $0 != "m" }.dropFirst() }.joined()
  }

  @Test("A long sequence of combining marks is cut")
  func marks() {
    let shown = TerminalText.safe("a" + String(repeating: "\u{301}", count: 500) + "b")
    #expect(shown.count == 2)
    #expect(shown.unicodeScalars.count <= 12)
  }

  @Test("The terminal width is clamped to 40 to 200", arguments: [(0, 40), (80, 80), (1000, 200), (-5, 40)])
  func width(asked: Int, kept: Int) {
    #expect(TerminalStyle(width: asked).width == kept)
  }
}

@Suite("Terminal layout")
struct TerminalLayoutTests {
  @Test(
    "Wide characters take two columns",
    arguments: [("abc", 3), ("漢字", 4), ("한글", 4), ("é", 1), ("👩‍👩‍👧‍👦", 2), ("ｆｕ", 4), ("", 0)]
  )
  func columns(text: String, columns: Int) {
    #expect(TerminalText.columns(text) == columns)
  }

  @Test(
    "A cut text fits, and shows where it was cut",
    arguments: [
      ("redis-load[clients=50]", 12, TerminalText.Cut.end, "redis-load[…"),
      ("redis-load[clients=50]", 12, .middle, "redis-…s=50]"), ("short", 12, .end, "short"),
      ("漢字漢字", 6, .end, "漢字…"), ("漢字漢字", 5, .middle, "漢…字"), ("abc", 1, .end, "…"),
    ]
  )
  func cut(text: String, limit: Int, place: TerminalText.Cut, shown: String) {
    let cut = TerminalText.cut(text, to: limit, at: place, mark: "…")
    #expect(cut == shown)
    #expect(TerminalText.columns(cut) <= limit)
  }

  @Test("Text wraps at spaces; a word that is too long is split")
  func wrap() {
    #expect(TerminalText.wrapped("the quick brown fox", to: 10) == ["the quick", "brown fox"])
    #expect(TerminalText.wrapped("abcdefghijkl mn", to: 5) == ["abcde", "fghij", "kl mn"])
    #expect(TerminalText.wrapped("23.1\u{a0}MiB is much", to: 10) == ["23.1\u{a0}MiB", "is much"])
    #expect(TerminalText.wrapped("   ", to: 10) == [])
  }

  @Test(
    "A shell reads a quoted word back unchanged",
    arguments: [
      "plain-word_1.0", "redis-load[clients=50]", "it's", "", "$(reboot) `x` \"y\" \\", "a b", "*?~!#&;|<>",
      "\u{1b}[2Jx\nfed\u{7}a", "\u{202e}漢字\u{1}0", "'\u{8}'", "tab\tend",
    ]
  )
  func quoted(word: String) throws {
    let quoted = ShellWords.quoted(word)
    #expect(TerminalText.safe(quoted) == quoted)
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/bash")
    shell.arguments = ["-c", "printf %s \(quoted)"]
    let output = Pipe()
    shell.standardOutput = output
    try shell.run()
    let read = try output.fileHandleForReading.readToEnd() ?? Data()
    shell.waitUntilExit()
    #expect(String(decoding: read, as: UTF8.self) == word)
  }

  @Test("Output is shown without colours, trailing carriage returns, tabs and trailing empty lines")
  func output() {
    let lines = OutputLines.of("\u{1b}[1;31mred\u{1b}[0m\r\n\tx\rover\n\n\u{1b}[2J\n\n\n")
    #expect(lines == ["red", "    x\\rover", "", "\\x1b[2J"])
    #expect(OutputLines.of("") == [])
  }
}
