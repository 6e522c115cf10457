/// How a terminal shows a text; independent of the code under test.
enum Terminal {
  /// The columns of a line: CJK ideographs are wide, and the only wide characters of the fixtures.
  static func columns(_ line: some StringProtocol) -> Int {
    line.reduce(0) { total, character in
      let isWide = character.unicodeScalars.contains { (0x4e00...0x9fff).contains($0.value) }
      return total + (isWide ? 2 : 1)
    }
  }

  static func withoutColour(_ text: String) -> String {
    text.replacing(/\u{1b}\[[0-9]+m/, with: "")
  }
}
