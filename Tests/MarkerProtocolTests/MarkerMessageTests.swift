import MarkerProtocol
import Testing

@Suite("One line from a target")
struct MarkerMessageTests {
  @Test(
    "Each kind of message is understood",
    arguments: [
      ("phase load", .phase("load")),
      ("mark cache-filled.2", .mark("cache-filled.2")),
      ("iteration", .iteration),
      ("value queue.depth 17 items", .value(name: "queue.depth", number: 17, unit: "items")),
      ("value ratio -2.5e-1 %", .value(name: "ratio", number: -0.25, unit: "%")),
      ("value speed 3 MiB/s", .value(name: "speed", number: 3, unit: "MiB/s")),
      ("  mark \t a  ", .mark("a")),
      ("iteration\r", .iteration),
    ] as [(String, MarkerMessage)]
  )
  func understood(line: String, message: MarkerMessage) {
    #expect(MarkerMessage(parsing: Array(line.utf8)) == message)
  }

  @Test(
    "What is not quite a message is none",
    arguments: [
      "", " ", "phase", "phase a b", "phase .hidden", "mark ../x", "mark é", "Iteration", "iteration 3", "PHASE a",
      "value a 1", "value a one items", "value a nan items", "value a inf items", "value a 0x10 items",
      "value a 1e999 items", "value a 1 ", "value a 1 items more", "value a 1 a;b", "value a 1 123456789012345678901",
      "mark a\u{0}b", "mark \u{1b}[31m", "phase " + String(repeating: "a", count: 101),
    ]
  )
  func notUnderstood(line: String) {
    #expect(MarkerMessage(parsing: Array(line.utf8)) == nil)
  }

  @Test("A line of 512 bytes with its newline is a message, one byte more is none")
  func longest() {
    let line = Array("mark a".utf8) + [UInt8](repeating: 0x20, count: 505)
    #expect(MarkerMessage(parsing: line) == .mark("a"))
    #expect(MarkerMessage(parsing: line + [0x20]) == nil)
  }

  @Test(
    "What is written can be read again",
    arguments: [
      .phase("load"), .mark("x"), .iteration, .value(name: "a.b", number: 0.1, unit: "s"),
      .value(name: "big", number: -1.7976931348623157e308, unit: "B"),
    ] as [MarkerMessage]
  )
  func roundTrip(message: MarkerMessage) throws {
    let line = try #require(message.line)
    #expect(line.count <= MarkerMessage.longestLine)
    #expect(line.last == 0x0a)
    #expect(MarkerMessage(parsing: line.dropLast()) == message)
  }

  @Test(
    "What could not be read again is not written",
    arguments: [
      .phase(""), .mark("two words"), .mark("a\nphase b"), .value(name: "a", number: .nan, unit: "s"),
      .value(name: "a", number: .infinity, unit: "s"), .value(name: "a", number: 1, unit: ""),
    ] as [MarkerMessage]
  )
  func refused(message: MarkerMessage) {
    #expect(message.line == nil)
  }
}
