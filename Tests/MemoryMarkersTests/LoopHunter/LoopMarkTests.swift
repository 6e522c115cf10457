import MarkerProtocol
import Testing

@Suite("Loops under Highwater")
struct LoopMarkTests {
  @Test("A loop is sent as `value loop.TYPE.NAME COUNT calls`")
  func sent() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["loop"], variables: fifo.variables)
    program.end()
    fifo.readToEnd()
    #expect(fifo.messages == [.value(name: "loop.Model.update__", number: 100, unit: "calls")])
  }

  @Test("With the kill switch nothing is reported or counted")
  func killSwitch() throws {
    let fifo = try Fifo(in: TestFolder())
    let program = try Program("marks-fixture", ["loop-off"], variables: fifo.variables)
    #expect(program.lines() == ["largest=0"])
    program.end()
    fifo.read()
    #expect(fifo.messages == [])
  }
}
