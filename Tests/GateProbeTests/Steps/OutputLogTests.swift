import GateCore
import Testing

@testable import GateProbe

@Suite("Searching output for patterns")
struct OutputLogTests {
  /// Appends the pieces one by one; returns the index of the first piece that leads to a match, and its position.
  private func find(_ pattern: String, in pieces: [String], from start: OutputLog.Position = .init()) throws -> (
    piece: Int, position: OutputLog.Position
  )? {
    var log = OutputLog()
    var search = OutputSearch(for: try Pattern(parsing: pattern), from: start) { false }
    for (index, piece) in pieces.enumerated() {
      log.append(piece.utf8)
      if let position = search.find(in: log.rest(from: search.position)) { return (index, position) }
    }
    return nil
  }

  @Test(
    "A pattern matches within a complete or incomplete line",
    arguments: [
      ("ready", ["not yet\n", "re", "ady now"], 2), ("^b$", ["a\nb", "c\n", "b\n"], 0), ("^$", ["a", "\n", "\n"], 2),
      ("a.*b", ["a\nb", "\nab\n"], 1), ("end$", ["the end\r\n"], 0), ("é", ["caf", "é"], 1),
    ]
  )
  func matches(pattern: String, pieces: [String], piece: Int) throws {
    #expect(try find(pattern, in: pieces)?.piece == piece)
  }

  @Test("A pattern never matches across lines", arguments: ["a\\nb", "a\\sb", "^ab$"])
  func withinLine(pattern: String) throws {
    #expect(try find(pattern, in: ["a", "\nb", "\n"]) == nil)
  }

  @Test("The next search begins after the last match, also within a line")
  func next() throws {
    let pieces = ["one two one\n", "three\n"]
    let first = try #require(try find("one", in: pieces))
    let second = try #require(try find("one", in: pieces, from: first.position))
    #expect(try find("one", in: pieces, from: second.position) == nil)
    #expect(second.position.offset == 12, "after the newline")
    #expect(try find("thr", in: pieces, from: second.position)?.position.offset == 15)
  }

  @Test("Only the first 8 KiB of a line are searched")
  func longLine() throws {
    let padding = String(repeating: "x", count: OutputLog.maxLineLength)
    #expect(try find("needle", in: [padding + "needle\n"]) == nil)
    #expect(try find("needle", in: [padding + "needle\n", "needle\n"])?.piece == 1)
    #expect(try find("needle", in: [padding.dropLast(6) + "needle\n"])?.piece == 0)
  }

  @Test("At least the latest 4 MiB are kept, and older output is dropped")
  func bounded() throws {
    var log = OutputLog()
    log.append("first\n".utf8)
    let line = [UInt8](repeating: 0x78, count: 65_535) + [0x0a]
    for _ in 0..<200 { log.append(line) }
    #expect(log.hasDropped)
    let rest = log.rest(from: .init())
    #expect((OutputLog.maxBytes...2 * OutputLog.maxBytes).contains(rest.bytes.count))
    #expect(rest.position.offset + rest.bytes.count == 6 + 200 * 65_536)
  }

  @Test("Invalid UTF-8 can be searched")
  func notUnicode() throws {
    var log = OutputLog()
    log.append([0xff, 0xfe] + Array("ok\nnext\n".utf8))
    var search = OutputSearch(for: try Pattern(parsing: "ok"), from: .init()) { false }
    #expect(search.find(in: log.rest(from: search.position))?.offset == 5)
  }
}
