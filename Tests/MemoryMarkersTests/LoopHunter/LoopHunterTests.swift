import Dispatch
import MemoryMarkers
import Synchronization
import Testing

@Suite("Detecting loops")
struct LoopHunterTests {
  private let model = Model()
  private let log = EventLog()

  @Test("99 calls are not reported, the 100th is, and 600 in a turn are reported once")
  func threshold() {
    let hunter = LoopHunter(ManualTurn(), log)
    hunter.watch(model, "update")
    hunter.hit(model, "update", times: 99)
    #expect(log.count == 0)
    hunter.hit(model, "update")
    #expect(log.count == 1)
    hunter.hit(model, "update", times: 500)
    #expect(log.count == 1)
    #expect(hunter.largestCount(of: model, "update") == 600)
  }

  @Test("An event has the class, the name, the count and the turn, with the memory of the process")
  func event() throws {
    let turn = ManualTurn()
    let hunter = LoopHunter(turn, log)
    hunter.watch(model, "update")
    turn.advance()
    hunter.hit(model, "update", times: 100)
    let event = try #require(log.events.first)
    #expect(event.cause == .calls)
    #expect(event.typeName == "Model")
    #expect(event.name == "update")
    #expect(event.count == 100)
    #expect(event.turn == 1)
    #expect(event.rssAtTurnStart > 1 << 20)
    #expect(event.rssNow > 1 << 20)
  }

  @Test("The next turn resets the count: 99 + 99 calls are not reported")
  func nextTurn() {
    let turn = ManualTurn()
    let hunter = LoopHunter(turn, log)
    hunter.watch(model, "update")
    hunter.hit(model, "update", times: 99)
    turn.advance()
    hunter.hit(model, "update", times: 99)
    #expect(log.count == 0)
    #expect(hunter.largestCount(of: model, "update") == 99)
  }

  @Test("A threshold of 1 reports the first call", arguments: [1, 0, -5])
  func one(threshold: Int) {
    let hunter = LoopHunter(threshold: threshold, ManualTurn(), log)
    hunter.watch(model, "update")
    hunter.hit(model, "update")
    #expect(log.count == 1)
  }

  @Test(
    "A loop is reported once in each turn, or only once",
    arguments: [(LoopHunter.Notify.oncePerTurn, 3), (.onceEver, 1)])
  func notify(notify: LoopHunter.Notify, count: Int) {
    let turn = ManualTurn()
    let hunter = LoopHunter(turn, notify: notify, log)
    hunter.watch(model, "update")
    for _ in 0..<3 {
      hunter.hit(model, "update", times: 150)
      turn.advance()
    }
    #expect(log.count == count)
  }

  @Test("An unwatched object, another name, and an object after unwatch are never reported")
  func unwatched() {
    let hunter = LoopHunter(ManualTurn(), log)
    hunter.watch(model, "update")
    let others = (0..<200).map { _ in Model() }
    for other in others { hunter.hit(other, "update", times: 200) }
    hunter.hit(model, "draw", times: 200)
    hunter.unwatch(model)
    hunter.hit(model, "update", times: 200)
    #expect(log.count == 0)
  }

  @Test("Each name of each object has its own count")
  func names() {
    let hunter = LoopHunter(ManualTurn(), log)
    let other = Model()
    for object in [model, other] {
      hunter.watch(object, "update")
      hunter.watch(object, "draw")
    }
    hunter.hit(model, "update", times: 99)
    hunter.hit(model, "draw", times: 99)
    hunter.hit(other, "update", times: 99)
    #expect(log.count == 0)
    hunter.hit(other, "draw", times: 100)
    #expect(log.events.map(\.name) == ["draw"])
  }

  @Test("Objects are not kept alive, and another object at the same address is not watched")
  func weak() {
    let hunter = LoopHunter(ManualTurn(), log)
    weak var last: Model?
    for _ in 0..<1000 {
      let short = Model()
      last = short
      hunter.watch(short, "update")
      let next = Model()
      hunter.hit(next, "update", times: 100)
    }
    #expect(last == nil)
    #expect(log.count == 0)
  }

  @Test("The address of a released object does not keep its count")
  func address() throws {
    let hunter = LoopHunter(ManualTurn(), log)
    func hitNew() -> ObjectIdentifier {
      let short = Model()
      hunter.watch(short, "update")
      hunter.hit(short, "update", times: 7)
      return ObjectIdentifier(short)
    }
    var found: Model?
    // Other tests may take the memory in between.
    for _ in 0..<1000 where found == nil {
      let released = hitNew()
      found = (0..<100).map { _ in Model() }.first { ObjectIdentifier($0) == released }
    }
    let next = try #require(found)
    #expect(hunter.largestCount(of: next, "update") == 0)
  }

  @Test(
    "A name of `#function` is that of the watched function, whose parameters count only if both names have them",
    arguments: [
      ("update", "update()", 1), ("update", "update(_:animated:)", 1), ("update()", "update", 1),
      ("update(_:)", "update(animated:)", 0), ("update", "updates()", 0), ("update()", "update()", 1),
    ] as [(StaticString, StaticString, Int)]
  )
  func functionNames(watched: StaticString, called: StaticString, count: Int) {
    let hunter = LoopHunter(ManualTurn(), log)
    hunter.watch(model, watched)
    hunter.hit(model, called, times: 99)
    hunter.hit(model, called)
    #expect(log.count == count)
  }

  @Test("A name that never matches is told once, unless the watched one is called, too")
  func mismatch() throws {
    #expect(
      try Program("marks-fixture", ["mismatch"]).lines() == [
        "highwater: warning: LoopHunter: Model is watched as `update`, but only called as `draw(_:)`: nothing is counted"
      ])
  }

  @Test("A hit inside onLoop does not recurse")
  func recursion() {
    let model = model
    let log = log
    let holder = Mutex<LoopHunter?>(nil)
    let hunter = LoopHunter(threshold: 1, turn: FreshTurn()) { event in
      log.add(event)
      holder.withLock { $0 }?.hit(model, "update")
    }
    holder.withLock { $0 = hunter }
    hunter.watch(model, "update")
    hunter.hit(model, "update")
    #expect(log.count == 1)
    hunter.hit(model, "update")
    #expect(log.count == 2)
    holder.withLock { $0 = nil }
  }

  /// A turn source in which each call is a new turn.
  private final class FreshTurn: TurnSource {
    private let last = Atomic<UInt64>(0)

    func currentTurn() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
  }

  @Test("Memory growth in a turn is reported once, long before the threshold")
  func growth() throws {
    let program = try Program("marks-fixture", ["growth"])
    let lines = program.lines()
    #expect(lines.dropLast() == ["growth in turn 0"])
    // Once for 64 of the 150 MiB, and not in the next turn.
    let count = try #require(lines.last.flatMap { Int($0) })
    #expect((2...150).contains(count))
  }

  @Test("Growth is only reported on request, and not after the threshold was reported")
  func growthIsOff() throws {
    #expect(try Program("marks-fixture", ["growth-off"]).lines() == ["0"])
    #expect(try Program("marks-fixture", ["growth-late"]).lines() == ["calls in turn 0", "1"])
  }

  @Test("Four threads × 1000 hits on four objects are counted exactly")
  func threads() {
    let hunter = LoopHunter(threshold: 1000, ManualTurn(), log)
    let models = (0..<4).map { _ in Model() }
    for model in models { hunter.watch(model, "update") }
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<1000 { hunter.hit(models[(thread + number) % 4], "update") }
    }
    #expect(models.map { hunter.largestCount(of: $0, "update") } == [1000, 1000, 1000, 1000])
    #expect(log.count == 4)
  }
}
