import Testing

@testable import GateProbe

@Suite("The tail of a program's output")
struct OutputTailTests {
  private func lines(_ text: String, piece: Int = 4096) -> [String] {
    var tail = OutputTail()
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      tail.append(rest.prefix(piece))
      rest = rest.dropFirst(piece)
    }
    return tail.lines
  }

  @Test("The last 20 lines are kept, including an incomplete one", arguments: [1, 3, 4096])
  func last(piece: Int) {
    let text = (1...50).map { "line \($0)\n" }.joined() + "rest"
    #expect(lines(text, piece: piece) == (32...50).map { "line \($0)" } + ["rest"])
    #expect(lines("", piece: piece) == [])
    #expect(lines("a\n\nb\n", piece: piece) == ["a", "", "b"])
  }

  @Test("A long line is cut at 400 bytes")
  func long() {
    #expect(lines(String(repeating: "x", count: 400)) == [String(repeating: "x", count: 400)])
    #expect(lines(String(repeating: "x", count: 100_000)) == [String(repeating: "x", count: 400) + "…"])
  }

  @Test(
    "Control characters are escaped",
    arguments: [
      ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"), ("a\tb\r\n", "a b"), ("10%\r20%", "10%\\r20%"), ("a\u{0}b", "a\\u{0}b"),
      ("\u{9b}31m", "\\u{9b}31m"), ("\u{202e}exe", "\\u{202e}exe"), ("naïve ✓", "naïve ✓"),
    ]
  )
  func escaped(text: String, shown: String) {
    #expect(lines(text) == [shown])
  }

  @Test("Invalid UTF-8 is repaired")
  func repaired() {
    var tail = OutputTail()
    tail.append([0x61, 0xff, 0x62, 0x0a])
    #expect(tail.lines == ["a\u{fffd}b"])
  }
}
