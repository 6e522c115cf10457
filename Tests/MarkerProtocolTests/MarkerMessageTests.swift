import MarkerProtocol
import Testing

@Suite("Parsing a line of a target")
struct MarkerMessageTests {
  @Test(
    "Each kind of message is parsed",
    arguments: [
      ("phase load", .phase("load")),
      ("phase load wait", .phase("load", writerWaits: true)),
      ("late", .late),
      ("mark cache-filled.2", .mark("cache-filled.2")),
      ("iteration", .iteration),
      ("value queue.depth 17 items", .value(name: "queue.depth", number: 17, unit: "items")),
      ("value ratio -2.5e-1 %", .value(name: "ratio", number: -0.25, unit: "%")),
      ("value speed 3 MiB/s", .value(name: "speed", number: 3, unit: "MiB/s")),
      ("  mark \t a  ", .mark("a")),
      ("iteration\r", .iteration),
    ] as [(String, MarkerMessage)]
  )
  func parsed(line: String, message: MarkerMessage) {
    #expect(MarkerMessage(parsing: Array(line.utf8)) == message)
  }

  @Test(
    "Invalid messages are rejected",
    arguments: [
      "", " ", "phase", "phase a b", "late a", "phase .hidden", "mark ../x", "mark é", "Iteration", "iteration 3",
      "PHASE a",
      "value a 1", "value a one items", "value a nan items", "value a inf items", "value a 0x10 items",
      "value a 1e999 items", "value a 1 ", "value a 1 items more", "value a 1 a;b", "value a 1 123456789012345678901",
      "mark a\u{0}b", "mark \u{1b}[31m", "phase " + String(repeating: "a", count: 101),
    ]
  )
  func invalid(line: String) {
    #expect(MarkerMessage(parsing: Array(line.utf8)) == nil)
  }

  @Test("A line may have 512 bytes with its newline, and not one more")
  func longest() {
    let line = Array("mark a".utf8) + [UInt8](repeating: 0x20, count: 505)
    #expect(MarkerMessage(parsing: line) == .mark("a"))
    #expect(MarkerMessage(parsing: line + [0x20]) == nil)
  }
}
