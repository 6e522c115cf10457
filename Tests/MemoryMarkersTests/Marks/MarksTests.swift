import MarkerProtocol
import Testing

@Suite("Marks from a program")
struct MarksTests {
  @Test(
    "Without Highwater nothing is opened or written",
    arguments: [[:], ["HIGHWATER_MARKS": ""], ["HIGHWATER_MARKS": "/nowhere"], ["HIGHWATER_MARKS": "FILE"]]
  )
  func outside(variables: [String: String]) throws {
    let folder = try TestFolder()
    let file = try folder.write("unchanged", to: "file")
    let program = try Program(
      "marks-fixture", ["all"], variables: variables.mapValues { $0 == "FILE" ? file : $0 })
    #expect(program.lines() == ["connected=false dropped=0 opened=0"])
    #expect(program.end() == .exited(0))
    #expect(folder.bytes(of: "file") == Array("unchanged".utf8))
  }

  @Test("Under Highwater each call is one message")
  func inside() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["all"], variables: fifo.variables)
    #expect(program.lines() == ["connected=true dropped=0 opened=1"])
    program.end()
    fifo.readToEnd()
    #expect(
      fifo.messages == [
        // Nothing is read while the program runs.
        .phase("load", writerWaits: true), .late, .mark("load"), .iteration,
        .value(name: "load", number: 1.5, unit: "items"),
      ])
  }

  @Test("Four threads × 10 000 marks arrive whole and in order per thread, received + dropped exact")
  func threads() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["threads"], variables: fifo.variables)
    fifo.readToEnd()
    let dropped = try #require(program.lines().first?.split(separator: "=").last.flatMap { Int($0) })
    program.end()
    #expect(fifo.unknownLines == 0)
    var last: [String: Double] = [:]
    var received = 0
    var reported = 0.0
    for case .value(let name, let number, let unit) in fifo.messages {
      if unit == "messages" {
        reported = max(reported, number)
      } else {
        received += 1
        #expect(number > last[name] ?? -1)
        last[name] = number
      }
    }
    #expect(received + dropped == 40_000)
    #expect(reported <= Double(dropped))
    // All messages of one thread may have been dropped, but not those of all threads.
    #expect(received > 0)
  }

  @Test("Messages are dropped and counted while the FIFO is full, and the count is sent afterwards")
  func flood() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["flood"], variables: fifo.variables)
    let dropped = try #require(program.line()?.split(separator: "=").last.flatMap { Int($0) })
    #expect(dropped > 0)
    fifo.read()
    #expect(fifo.messages.count + dropped == 20_000)
    program.sendLine()
    #expect(program.lines() == ["dropped=\(dropped)"])
    fifo.readToEnd()
    #expect(
      fifo.messages.suffix(2) == [
        .mark("resumed"), .value(name: "marks.dropped", number: Double(dropped), unit: "messages"),
      ])
  }

  @Test("A reader that closes the FIFO does not affect the program")
  func readerGone() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["gone"], variables: fifo.variables)
    #expect(program.line() == "ready")
    fifo.closeReader()
    program.sendLine()
    #expect(program.lines() == ["dropped=true"])
    #expect(program.end() == .exited(0))
  }

  @Test("A name with a newline stays one line, and no name, number or unit makes an invalid line")
  func names() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["names"], variables: fifo.variables)
    program.end()
    fifo.readToEnd()
    #expect(fifo.unknownLines == 0)
    let numbers = [0.1, 1e300, -0.0, Double.leastNonzeroMagnitude, 1_000_000]
    #expect(
      fifo.messages == ["two_lines", "phase_a_b", "xhidden", "x", "x_", String(repeating: "n", count: 100)]
        .map(MarkerMessage.mark) + numbers.map { .value(name: "n", number: $0, unit: "_") }
        + [.value(name: "unit", number: 1, unit: "way_too_long_for_a_u")])
  }

  @Test("If a program closes the FIFO's descriptor and reuses its number, no mark is written to the other file")
  func daemon() throws {
    let folder = try TestFolder()
    let fifo = try Fifo(in: folder)
    let program = try Program("marks-fixture", ["daemon", folder.file("other")], variables: fifo.variables)
    #expect(program.lines() == ["connected=true"])
    program.end()
    fifo.readToEnd()
    #expect(fifo.messages == [.mark("before"), .mark("after")])
    #expect(folder.bytes(of: "other").isEmpty)
  }

  @Test("Output of a program without standard streams is not written to the FIFO")
  func streams() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["streams"], variables: fifo.variables)
    program.end()
    fifo.readToEnd()
    #expect(fifo.messages == [.mark("first"), .mark("second")])
    #expect(fifo.unknownLines == 0)
  }

  @Test("A C program sends the same messages")
  func header() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-in-c", variables: fifo.variables)
    #expect(program.lines() == ["1 0"])
    program.end()
    fifo.readToEnd()
    let turns = [MarkerMessage](repeating: .iteration, count: 3)
    #expect(
      fifo.messages == [.phase("load", writerWaits: true), .late] + turns
        + [.value(name: "cache_entries", number: 0.1, unit: "items"), .mark("done")])
  }
}
