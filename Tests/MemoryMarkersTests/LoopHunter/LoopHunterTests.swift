import Dispatch
import Glibc
import MemoryMarkers
import Synchronization
import Testing

/// Something to be watched.
private final class Model: Sendable {}

/// What a hunter has told.
private final class Told: Sendable {
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
    _ told: Told
  ) {
    self.init(threshold: threshold, growth: growth, turn: turn, notify: notify) { told.add($0) }
  }

  fileprivate func hit(_ object: AnyObject, _ name: StaticString, times: Int) {
    for _ in 0..<times { hit(object, name) }
  }
}

@Suite("Hunting for loops")
struct LoopHunterTests {
  private let model = Model()
  private let told = Told()

  @Test("99 calls tell nothing, the 100th tells, and 600 in a turn tell once")
  func threshold() {
    let hunter = LoopHunter(ManualTurn(), told)
    hunter.watch(model, "update")
    hunter.hit(model, "update", times: 99)
    #expect(told.count == 0)
    hunter.hit(model, "update")
    #expect(told.count == 1)
    hunter.hit(model, "update", times: 500)
    #expect(told.count == 1)
    #expect(hunter.largestCount(of: model, "update") == 600)
  }

  @Test("What is told names the class, the place, the count and the turn, with the memory of the process")
  func event() throws {
    let turn = ManualTurn()
    let hunter = LoopHunter(turn, told)
    hunter.watch(model, "update")
    turn.advance()
    hunter.hit(model, "update", times: 100)
    let event = try #require(told.events.first)
    #expect(event.cause == .calls)
    #expect(event.typeName == "Model")
    #expect(event.name == "update")
    #expect(event.count == 100)
    #expect(event.turn == 1)
    #expect(event.rssAtTurnStart > 1 << 20)
    #expect(event.rssNow > 1 << 20)
  }

  @Test("The next turn resets the count: 99 + 99 calls tell nothing")
  func nextTurn() {
    let turn = ManualTurn()
    let hunter = LoopHunter(turn, told)
    hunter.watch(model, "update")
    hunter.hit(model, "update", times: 99)
    turn.advance()
    hunter.hit(model, "update", times: 99)
    #expect(told.count == 0)
    #expect(hunter.largestCount(of: model, "update") == 99)
  }

  @Test("A threshold of 1 tells of the first call", arguments: [1, 0, -5])
  func one(threshold: Int) {
    let hunter = LoopHunter(threshold: threshold, ManualTurn(), told)
    hunter.watch(model, "update")
    hunter.hit(model, "update")
    #expect(told.count == 1)
  }

  @Test("A loop is told in each turn, or once ever", arguments: [(LoopHunter.Notify.oncePerTurn, 3), (.onceEver, 1)])
  func notify(notify: LoopHunter.Notify, count: Int) {
    let turn = ManualTurn()
    let hunter = LoopHunter(turn, notify: notify, told)
    hunter.watch(model, "update")
    for _ in 0..<3 {
      hunter.hit(model, "update", times: 150)
      turn.advance()
    }
    #expect(told.count == count)
  }

  @Test("An unwatched object of the same class, another place, and one that is watched no longer never tell")
  func unwatched() {
    let hunter = LoopHunter(ManualTurn(), told)
    hunter.watch(model, "update")
    let others = (0..<200).map { _ in Model() }
    for other in others { hunter.hit(other, "update", times: 200) }
    hunter.hit(model, "draw", times: 200)
    hunter.unwatch(model)
    hunter.hit(model, "update", times: 200)
    #expect(told.count == 0)
  }

  @Test("Each place of each object has a count of its own, known by its text")
  func places() {
    let hunter = LoopHunter(ManualTurn(), told)
    let other = Model()
    for object in [model, other] {
      hunter.watch(object, "update")
      hunter.watch(object, "draw")
    }
    hunter.hit(model, "update", times: 99)
    hunter.hit(model, "draw", times: 99)
    hunter.hit(other, "update", times: 99)
    #expect(told.count == 0)
    hunter.hit(other, "draw", times: 100)
    #expect(told.events.map(\.name) == ["draw"])
  }

  @Test("Objects are not kept alive, and one that gets the address of another is not watched")
  func weak() {
    let hunter = LoopHunter(ManualTurn(), told)
    weak var last: Model?
    for _ in 0..<1000 {
      let short = Model()
      last = short
      hunter.watch(short, "update")
      let next = Model()
      hunter.hit(next, "update", times: 100)
    }
    #expect(last == nil)
    #expect(told.count == 0)
  }

  @Test("A hit inside onLoop does not recurse")
  func recursion() {
    let model = model
    let told = told
    let holder = Mutex<LoopHunter?>(nil)
    let hunter = LoopHunter(threshold: 1, turn: FreshTurn()) { event in
      told.add(event)
      holder.withLock { $0 }?.hit(model, "update")
    }
    holder.withLock { $0 = hunter }
    hunter.watch(model, "update")
    hunter.hit(model, "update")
    #expect(told.count == 1)
    hunter.hit(model, "update")
    #expect(told.count == 2)
    holder.withLock { $0 = nil }
  }

  /// Each call is a turn, so that each is the first.
  private final class FreshTurn: TurnSource {
    private let last = Atomic<UInt64>(0)

    func currentTurn() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
  }

  /// Calls that each take a mebibyte and come slowly enough for memory to be read at each.
  private func grow(_ hunter: LoopHunter, times: Int) {
    var blocks: [UnsafeMutableRawBufferPointer] = []
    defer { blocks.forEach { munmap($0.baseAddress, $0.count) } }
    for _ in 0..<times {
      hunter.hit(model, "update")
      let size = 1 << 20
      let block = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let block, block != MAP_FAILED else { continue }
      memset(block, 1, size)
      blocks.append(UnsafeMutableRawBufferPointer(start: block, count: size))
      usleep(2000)
    }
  }

  @Test("A turn in which memory grows by more than is asked for is told of once, long before the threshold")
  func growth() throws {
    let turn = ManualTurn()
    let hunter = LoopHunter(threshold: 1000, growth: 64 << 20, turn, told)
    hunter.watch(model, "update")
    grow(hunter, times: 150)
    let event = try #require(told.events.first)
    #expect(event.cause == .growth)
    // Other tests may have given some back meanwhile.
    #expect(event.rssNow >= event.rssAtTurnStart + 32 << 20)
    #expect((2...150).contains(event.count))
    #expect(told.count == 1)
    turn.advance()
    hunter.hit(model, "update", times: 100)
    #expect(told.count == 1)
  }

  @Test("Unless it is asked for, growth tells nothing, and what the threshold has told of is not told again by growth")
  func growthIsOff() {
    let off = LoopHunter(threshold: 1000, ManualTurn(), told)
    off.watch(model, "update")
    grow(off, times: 50)
    #expect(told.count == 0)
    let early = LoopHunter(threshold: 1, growth: 16 << 20, ManualTurn(), told)
    early.watch(model, "update")
    grow(early, times: 50)
    #expect(told.events.map(\.cause) == [.calls])
  }

  @Test("Four threads × 1000 hits on four objects are counted exactly")
  func threads() {
    let hunter = LoopHunter(threshold: 1000, ManualTurn(), told)
    let models = (0..<4).map { _ in Model() }
    for model in models { hunter.watch(model, "update") }
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<1000 { hunter.hit(models[(thread + number) % 4], "update") }
    }
    #expect(models.map { hunter.largestCount(of: $0, "update") } == [1000, 1000, 1000, 1000])
    #expect(told.count == 4)
  }
}

@Suite("What is a turn")
struct TurnSourceTests {
  private let model = Model()
  private let told = Told()

  @Test("Calls spread over a queue's blocks tell nothing, and the largest count is 1")
  func spread() {
    let queue = DispatchQueue(label: "turns")
    let hunter = LoopHunter(QueueTurn { queue.async(execute: $0) }, told)
    hunter.watch(model, "update")
    let model = model
    let done = DispatchSemaphore(value: 0)
    @Sendable func next(_ rest: Int) {
      hunter.hit(model, "update")
      if rest == 0 { done.signal() } else { queue.async { next(rest - 1) } }
    }
    queue.async { next(600) }
    done.wait()
    #expect(told.count == 0)
    #expect(hunter.largestCount(of: model, "update") == 1)
  }

  @Test("Blocks that were all put in at once are one turn, unless each is performed as its own")
  func burst() {
    let queue = DispatchQueue(label: "turns")
    let turn = QueueTurn { queue.async(execute: $0) }
    let hunter = LoopHunter(threshold: 20, turn, told)
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
    #expect(told.count == 1)
    queue.sync { turn.perform { hunter.hit(model, "update", times: 25) } }
    #expect(told.count == 2)
    #expect(hunter.largestCount(of: model, "update") == 25)
  }

  @Test("Jobs of the main actor that were waiting already can be turns of their own, too")
  @MainActor
  func mainActorBurst() async {
    let turn = MainActorTurn()
    let hunter = LoopHunter(threshold: 20, turn, told)
    hunter.watch(model, "update")
    let model = model
    let jobs = (0..<50).map { _ in Task { @MainActor in turn.perform { hunter.hit(model, "update") } } }
    for job in jobs { await job.value }
    #expect(told.count == 0)
    #expect(hunter.largestCount(of: model, "update") == 1)
  }

  @Test("25 calls in one block of a queue tell once at a threshold of 20")
  func block() {
    let queue = DispatchQueue(label: "turns")
    let hunter = LoopHunter(threshold: 20, QueueTurn { queue.async(execute: $0) }, told)
    hunter.watch(model, "update")
    queue.sync { hunter.hit(model, "update", times: 25) }
    #expect(told.count == 1)
    queue.sync { hunter.hit(model, "update", times: 25) }
    #expect(told.count == 2)
  }

  @Test("25 calls in one job of the main actor tell once, 6 a job with yields between tell nothing")
  @MainActor
  func mainActor() async {
    let hunter = LoopHunter(threshold: 20, MainActorTurn(), told)
    hunter.watch(model, "update")
    for _ in 0..<10 {
      hunter.hit(model, "update", times: 6)
      // Other tests' jobs may come in between; the turn's end is among those that come before ours.
      await Task.yield()
      await Task.yield()
    }
    #expect(told.count == 0)
    hunter.hit(model, "update", times: 25)
    #expect(told.count == 1)
  }

  @Test("A request is one turn across its suspensions and tasks, and the next request is another")
  func task() async {
    let hunter = LoopHunter(threshold: 20, TaskTurn(), told)
    hunter.watch(model, "update")
    let model = model
    for _ in 0..<5 {
      await TaskTurn.run { hunter.hit(model, "update", times: 15) }
    }
    hunter.hit(model, "update", times: 100)
    #expect(told.count == 0)
    await TaskTurn.run {
      hunter.hit(model, "update", times: 10)
      await Task.yield()
      await Task { hunter.hit(model, "update", times: 10) }.value
    }
    #expect(told.count == 1)
  }
}
