import Dispatch
import Glibc
import MemoryMarkers
import Synchronization
import Testing

/// An object to watch.
private final class Model: Sendable {}

/// The events that a hunter has reported.
private final class EventLog: Sendable {
  private let list = Mutex<[LoopEvent]>([])

  var events: [LoopEvent] { list.withLock { $0 } }

  var count: Int { events.count }

  func add(_ event: LoopEvent) { list.withLock { $0.append(event) } }
}

extension LoopHunter {
  fileprivate convenience init(
    threshold: Int = 100,
    growth: UInt64? = nil,
    _ turn: any TurnSource,
    notify: Notify = .oncePerTurn,
    _ log: EventLog
  ) {
    self.init(threshold: threshold, growth: growth, turn: turn, notify: notify) { log.add($0) }
  }

  fileprivate func hit(_ object: AnyObject, _ name: StaticString, times: Int) {
    for _ in 0..<times { hit(object, name) }
  }
}

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
    let released = hitNew()
    var others: [Model] = []
    while others.last.map({ ObjectIdentifier($0) }) != released, others.count < 100_000 { others.append(Model()) }
    let next = try #require(others.last)
    #expect(ObjectIdentifier(next) == released)
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

@Suite("Turns")
struct TurnSourceTests {
  private let model = Model()
  private let log = EventLog()

  @Test("Calls in separate blocks of a queue are not reported, and the largest count is 1")
  func spread() {
    let queue = DispatchQueue(label: "turns")
    let hunter = LoopHunter(QueueTurn { queue.async(execute: $0) }, log)
    hunter.watch(model, "update")
    let model = model
    let done = DispatchSemaphore(value: 0)
    @Sendable func next(_ rest: Int) {
      hunter.hit(model, "update")
      if rest == 0 { done.signal() } else { queue.async { next(rest - 1) } }
    }
    queue.async { next(600) }
    done.wait()
    #expect(log.count == 0)
    #expect(hunter.largestCount(of: model, "update") == 1)
  }

  @Test("Blocks enqueued at once are one turn, unless each is performed as its own")
  func burst() {
    let queue = DispatchQueue(label: "turns")
    let turn = QueueTurn { queue.async(execute: $0) }
    let hunter = LoopHunter(threshold: 20, turn, log)
    let other = Model()
    hunter.watch(model, "update")
    hunter.watch(other, "update")
    let model = model
    queue.suspend()
    for _ in 0..<50 { queue.async { hunter.hit(other, "update") } }
    for _ in 0..<50 { queue.async { turn.perform { hunter.hit(model, "update") } } }
    queue.resume()
    queue.sync {}
    #expect(hunter.largestCount(of: model, "update") == 1)
    #expect(hunter.largestCount(of: other, "update") == 50)
    #expect(log.count == 1)
    queue.sync { turn.perform { hunter.hit(model, "update", times: 25) } }
    #expect(log.count == 2)
    #expect(hunter.largestCount(of: model, "update") == 25)
  }

  @Test("Jobs of the main actor enqueued at once can be turns of their own")
  @MainActor
  func mainActorBurst() async {
    let turn = MainActorTurn()
    let hunter = LoopHunter(threshold: 20, turn, log)
    hunter.watch(model, "update")
    let model = model
    let jobs = (0..<50).map { _ in Task { @MainActor in turn.perform { hunter.hit(model, "update") } } }
    for job in jobs { await job.value }
    #expect(log.count == 0)
    #expect(hunter.largestCount(of: model, "update") == 1)
  }

  @Test("25 calls in one block of a queue are reported once at a threshold of 20")
  func block() {
    let queue = DispatchQueue(label: "turns")
    let hunter = LoopHunter(threshold: 20, QueueTurn { queue.async(execute: $0) }, log)
    hunter.watch(model, "update")
    queue.sync { hunter.hit(model, "update", times: 25) }
    #expect(log.count == 1)
    queue.sync { hunter.hit(model, "update", times: 25) }
    #expect(log.count == 2)
  }

  @Test("25 calls in one job of the main actor are reported once, 6 in each of several jobs are not")
  @MainActor
  func mainActor() async {
    let hunter = LoopHunter(threshold: 20, MainActorTurn(), log)
    hunter.watch(model, "update")
    for _ in 0..<10 {
      hunter.hit(model, "update", times: 6)
      // Jobs of other tests may run in between; the end of the turn is enqueued before our next job.
      await Task.yield()
      await Task.yield()
    }
    #expect(log.count == 0)
    hunter.hit(model, "update", times: 25)
    #expect(log.count == 1)
  }

  @Test("A request is one turn across its suspensions and tasks, and the next request is another")
  func task() async {
    let hunter = LoopHunter(threshold: 20, TaskTurn(), log)
    hunter.watch(model, "update")
    let model = model
    for _ in 0..<5 {
      await TaskTurn.run { hunter.hit(model, "update", times: 15) }
    }
    hunter.hit(model, "update", times: 100)
    #expect(log.count == 0)
    await TaskTurn.run {
      hunter.hit(model, "update", times: 10)
      await Task.yield()
      await Task { hunter.hit(model, "update", times: 10) }.value
    }
    #expect(log.count == 1)
  }

  @Test("Tasks that call one object at the same time have turns of their own")
  func concurrentTasks() async {
    let hunter = LoopHunter(TaskTurn(), log)
    hunter.watch(model, "update")
    let model = model
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          await TaskTurn.run {
            for _ in 0..<1000 {
              hunter.hit(model, "update")
              await Task.yield()
            }
          }
        }
      }
    }
    #expect(log.count == 2)
    #expect(hunter.largestCount(of: model, "update") == 1000)
  }

  @Test("A thousand tasks are counted exactly")
  func thousandTasks() async {
    let hunter = LoopHunter(threshold: 20, TaskTurn(), log)
    let free = LoopHunter(threshold: 21, TaskTurn(), log)
    for hunter in [hunter, free] { hunter.watch(model, "update") }
    let model = model
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<1000 {
        group.addTask {
          await TaskTurn.run {
            for _ in 0..<20 {
              hunter.hit(model, "update")
              free.hit(model, "update")
              await Task.yield()
            }
          }
        }
      }
    }
    #expect(log.count == 1000)
    #expect(log.events.allSatisfy { $0.count == 20 })
    #expect(Set(log.events.map(\.turn)).count == 1000)
    #expect(free.largestCount(of: model, "update") == 20)
  }

  @Test("Work that enters its own turn again continues it, in a task and on a queue")
  func reentry() async {
    let hunter = LoopHunter(TaskTurn(), log)
    hunter.watch(model, "update")
    let model = model
    @Sendable func update(_ rest: Int) async {
      await TaskTurn.run {
        hunter.hit(model, "update")
        if rest > 1 { await update(rest - 1) }
      }
    }
    await update(1000)
    #expect(log.count == 1)
    #expect(hunter.largestCount(of: model, "update") == 1000)
    let queue = DispatchQueue(label: "turns")
    let turn = QueueTurn { queue.async(execute: $0) }
    let other = LoopHunter(turn, log)
    other.watch(model, "draw")
    func draw(_ rest: Int) {
      turn.perform {
        other.hit(model, "draw")
        if rest > 1 { draw(rest - 1) }
      }
    }
    queue.sync { draw(1000) }
    #expect(log.count == 2)
  }

  @Test("Calls of other threads do not belong to the turn of a busy queue")
  func busyQueue() {
    let queue = DispatchQueue(label: "turns")
    let hunter = LoopHunter(QueueTurn { queue.async(execute: $0) }, log)
    hunter.watch(model, "update")
    let model = model
    let (busy, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    queue.async {
      hunter.hit(model, "update", times: 50)
      busy.signal()
      done.wait()
      hunter.hit(model, "update", times: 49)
    }
    busy.wait()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in hunter.hit(model, "update", times: 500) }
    DispatchQueue(label: "other").sync { hunter.hit(model, "update", times: 500) }
    done.signal()
    queue.sync {}
    #expect(log.count == 0)
    #expect(hunter.largestCount(of: model, "update") == 99)
  }

  @Test("Calls outside the main actor do not belong to its turn")
  @MainActor
  func outsideMainActor() async {
    let hunter = LoopHunter(MainActorTurn(), log)
    hunter.watch(model, "update")
    let model = model
    await Task.yield()
    hunter.hit(model, "update", times: 99)
    let outside = Task.detached { hunter.hit(model, "update", times: 500) }
    await outside.value
    #expect(log.count == 0)
  }
}
