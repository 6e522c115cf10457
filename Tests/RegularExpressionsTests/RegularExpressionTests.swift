import RegularExpressions
import Testing

@Suite("Regular expressions")
struct RegularExpressionTests {
  private func outcome(_ pattern: String, _ text: String, isCancelled: () -> Bool = { false }) throws
    -> RegularExpression.Outcome
  {
    try RegularExpression(pattern).firstMatch(in: Array(text.utf8)[...], isCancelled: isCancelled)
  }

  @Test(
    "The first match counts, and its end is in bytes",
    arguments: [
      ("Ready to accept", "* Ready to accept connections", 17), ("^\\d+$", "٣14", 4),
      ("(?i)STARTED", "straße started", 15),
      (#"\bok\b"#, "book ok", 7), (#"(\w)\1"#, "abccd", 4), ("a.*?b", "aabab", 3), ("(?<n>x)|y", "zy", 2),
      (#"\u{e9}t\u00e9"#, "été", 5), (#"[[:upper:]]\p{Lu}"#, "éÉÄ", 6), ("port (?=8)", "port 80", 5), ("é.", "é漢", 5),
    ]
  )
  func match(pattern: String, text: String, end: Int) throws {
    #expect(try outcome(pattern, text) == .match(end: end))
  }

  @Test(
    "Other text does not match",
    arguments: [("^b", "ab"), ("a.b", "a\rb"), ("a$", "ab"), ("x{2}", "x"), (#"\\u0041"#, "A")])
  func noMatch(pattern: String, text: String) throws {
    #expect(try outcome(pattern, text) == .noMatch)
  }

  @Test("A search that takes exponential time can be ended", arguments: ["(a+)+$", "(a|aa)*$", "(?:(?=a*+b)|a)*$"])
  func cancelled(pattern: String) throws {
    let text = String(repeating: "a", count: 8000) + "!"
    var checks = 0
    let outcome = try outcome(pattern, text) {
      checks += 1
      return checks == 20
    }
    #expect(outcome == .abandoned)
    #expect(checks == 20)
  }

  @Test("A leading `.*` does not make a search of long lines slow")
  func longLine() throws {
    var checks = 0
    let outcome = try outcome(".*Started.*", String(repeating: "a", count: 8000)) {
      checks += 1
      return false
    }
    #expect(outcome == .noMatch)
    // Eight thousand steps, not their square.
    #expect(checks < 100)
  }
}
