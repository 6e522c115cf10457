import MarkerProtocol
import Testing

@Suite("Marks from a program")
struct MarksTests {
  @Test(
    "Outside the gate nothing is opened or written",
    arguments: [[:], ["HIGHWATER_MARKS": ""], ["HIGHWATER_MARKS": "/nowhere"], ["HIGHWATER_MARKS": "FILE"]]
  )
  func outside(variables: [String: String]) throws {
    let folder = try TestFolder()
    let file = try folder.write("untouched", to: "file")
    let program = try Program(
      "marks-fixture", ["all"], variables: variables.mapValues { $0 == "FILE" ? file : $0 })
    #expect(program.lines() == ["connected=false dropped=0 opened=0"])
    #expect(program.end() == .exited(0))
    #expect(folder.bytes(of: "file") == Array("untouched".utf8))
  }

  @Test("Inside the gate each call is one message")
  func inside() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["all"], variables: fifo.variables)
    #expect(program.lines() == ["connected=true dropped=0 opened=1"])
    program.end()
    fifo.readToEnd()
    #expect(
      fifo.messages == [
        .phase("load"), .mark("load"), .iteration, .value(name: "load", number: 1.5, unit: "items"),
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
    var told = 0.0
    for case .value(let name, let number, let unit) in fifo.messages {
      if unit == "messages" {
        told = max(told, number)
      } else {
        received += 1
        #expect(number > last[name] ?? -1)
        last[name] = number
      }
    }
    #expect(received + dropped == 40_000)
    #expect(told <= Double(dropped))
    // Of a thread that ran while nothing was read, none may have come.
    #expect(received > 0)
  }

  @Test("What had no room is dropped and counted, and the gate is told as soon as there is room")
  func flood() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["flood"], variables: fifo.variables)
    let dropped = try #require(program.line()?.split(separator: "=").last.flatMap { Int($0) })
    #expect(dropped > 0)
    fifo.read()
    #expect(fifo.messages.count + dropped == 20_000)
    program.goOn()
    #expect(program.lines() == ["dropped=\(dropped)"])
    fifo.readToEnd()
    #expect(
      fifo.messages.suffix(2) == [
        .mark("room"), .value(name: "marks.dropped", number: Double(dropped), unit: "messages"),
      ])
  }

  @Test("A reader that goes away does not harm the target")
  func readerGone() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["gone"], variables: fifo.variables)
    #expect(program.line() == "ready")
    fifo.hangUp()
    program.goOn()
    #expect(program.lines() == ["dropped=true"])
    #expect(program.end() == .exited(0))
  }

  @Test("A name with a newline stays one line, and no name, number or unit makes a line that the gate refuses")
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

  @Test("A program that closes all its files, and gets another one under the FIFO's number, does not get marks into it")
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

  @Test("What a program without standard streams prints does not get into the FIFO")
  func streams() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["streams"], variables: fifo.variables)
    program.end()
    fifo.readToEnd()
    #expect(fifo.messages == [.mark("first"), .mark("second")])
    #expect(fifo.unknownLines == 0)
  }

  @Test("A C program marks the same by the header")
  func header() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-in-c", variables: fifo.variables)
    #expect(program.lines() == ["1 0"])
    program.end()
    fifo.readToEnd()
    let turns = [MarkerMessage](repeating: .iteration, count: 3)
    #expect(
      fifo.messages == [.phase("load")] + turns
        + [.value(name: "cache_entries", number: 0.1, unit: "items"), .mark("done")])
  }
}
