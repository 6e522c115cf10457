import Dispatch
import MemoryMarkers
import Testing

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

  @Test("Eight threads and a thousand tasks at the same time are counted exactly, on a shared object and on their own")
  func threadsAndTasks() async {
    let turns = LoopHunter(threshold: 20, TaskTurn(), log)
    let free = LoopHunter(threshold: 21, TaskTurn(), log)
    // All calls are in one turn.
    let total = LoopHunter(threshold: .max, ManualTurn(), log)
    let (shared, ofThreads, ofTasks) = (model, (0..<8).map { _ in Model() }, (0..<1000).map { _ in Model() })
    let hunters = [turns, free, total]
    for hunter in hunters { for object in [shared] + ofThreads + ofTasks { hunter.watch(object, "update") } }
    @Sendable func hit(_ own: Model) {
      for hunter in hunters { for object in [shared, own] { hunter.hit(object, "update") } }
    }
    let threads = BusyThreads(ofThreads) { own in
      for _ in 0..<100 { QueueTurn { _ in }.perform { for _ in 0..<20 { hit(own) } } }
    }
    await withTaskGroup(of: Void.self) { group in
      for own in ofTasks {
        group.addTask {
          await TaskTurn.run {
            for _ in 0..<20 {
              hit(own)
              await Task.yield()
            }
          }
        }
      }
    }
    threads.join()
    // 1800 turns, each of which hits two objects 20 times.
    #expect(log.count == 3600)
    #expect(log.events.allSatisfy { $0.count == 20 })
    #expect(Set(log.events.map(\.turn)).count == 1800)
    #expect(free.largestCount(of: shared, "update") == 20)
    #expect(total.largestCount(of: shared, "update") == 36_000)
    #expect(ofThreads.allSatisfy { total.largestCount(of: $0, "update") == 2000 })
    #expect(ofTasks.allSatisfy { total.largestCount(of: $0, "update") == 20 })
  }

  /// Threads that run at the same time, one for each object.
  private struct BusyThreads {
    private let running = DispatchGroup()

    /// Returns when all of them have started.
    init(_ objects: [Model], _ work: @escaping @Sendable (Model) -> Void) {
      let (ready, start) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      for object in objects {
        DispatchQueue(label: "thread").async(group: running) {
          ready.signal()
          start.wait()
          work(object)
        }
      }
      for _ in objects { ready.wait() }
      for _ in objects { start.signal() }
    }

    func join() { running.wait() }
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
