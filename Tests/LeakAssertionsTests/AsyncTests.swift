import Dispatch
import Glibc
import LeakAssertions
import Testing

@Suite("Expecting that nothing leaks from asynchronous code", .timeLimit(.minutes(5)))
struct AsyncTests {
  private static var noGrace: LeakOptions { LeakOptions(grace: .zero) }

  @Test("What an asynchronous builder makes is walked as any other")
  func builder() async {
    let clean = await expectNoLeak { () async in
      await Task.yield()
      return Holder(Leaf())
    }
    #expect(clean.paths.isEmpty)
    #expect(clean.objectCount == 2)
    let leaky = await observing {
      await expectNoLeak(Self.noGrace) { () async in
        await Task.yield()
        let screen = Screen()
        screen.parent = screen
        return screen
      }
    }
    #expect(leaky.paths == ["self"])
  }

  @Test("A builder without end fails when its time is over, and the test goes on")
  func endless() async {
    let result = await observing {
      await expectNoLeak(LeakOptions(timeLimit: .milliseconds(50))) { () async in
        // A callback that nobody calls.
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return Leaf()
      }
    }
    #expect(result.failure == "the builder has not ended after 0.05 seconds, so nothing was inspected")
    #expect(result.objectCount == 0)
  }

  @Test("What a builder throws is thrown on")
  func throwing() async {
    struct Refusal: Error {}
    await #expect(throws: Refusal.self) {
      try await expectNoLeak { () async throws -> Leaf in throw Refusal() }
    }
  }

  @Test("What a task lets go of within the grace is no leak, and without a grace it is")
  func grace() async {
    let patient = await expectNoLeak(LeakOptions(grace: .seconds(60))) { () async in
      let leaf = Leaf()
      Task {
        try? await Task.sleep(for: .milliseconds(50))
        _ = leaf.back
      }
      return leaf
    }
    #expect(patient.paths.isEmpty)
    let (gate, open) = AsyncStream<Void>.makeStream()
    let impatient = await observing {
      await expectNoLeak(Self.noGrace) { () async in
        let leaf = Leaf()
        Task {
          for await _ in gate {}
          _ = leaf.back
        }
        return leaf
      }
    }
    #expect(impatient.paths == ["self"])
    open.finish()
  }

  @Test("An object can ask for a grace of its own")
  func ownGrace() {
    final class Slow: LeakTraversable, Sendable {
      var leakGrace: Duration { .seconds(60) }
    }
    let result = expectNoLeak {
      let slow = Slow()
      // Another thread lets go of it later; none of those that tests run on, which may all be waiting.
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { _ = slow.leakGrace }
      return slow
    }
    #expect(result.paths.isEmpty)
    #expect(result.objectCount == 1)
  }

  @Test("An actor that holds itself is found, on its own actor and from outside")
  func actorCycle() async {
    actor Worker {
      var work: (() -> Void)?
      func arm() { work = { _ = self } }
    }
    let result = await observing {
      await expectNoLeak(Self.noGrace) { () async in
        let worker = Worker()
        await worker.arm()
        return worker
      }
    }
    #expect(result.leaks.map(\.cycles) == [["self → work?{} → self"]])
    #expect(await expectNoLeak { () async in Worker() }.paths.isEmpty)
  }

  @Test("A builder runs on the caller's actor, and what it makes is walked there")
  @MainActor
  func mainActor() async {
    // Any thread may serve the main queue, so that the queue itself is asked for.
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
    func isOnMainQueue() -> Bool { DispatchQueue.getSpecific(key: key) == true }
    final class Seen: LeakTraversable {
      let places: Holder<[Bool]>
      let look: () -> Bool
      init(_ places: Holder<[Bool]>, look: @escaping () -> Bool) { (self.places, self.look) = (places, look) }
      var leakExtraChildren: [(String, Any)] {
        places.content.append(look())
        return []
      }
    }
    let places = Holder<[Bool]>([])
    await expectNoLeak(LeakOptions(ignoreInstances: [places, key])) { () async in
      places.content.append(isOnMainQueue())
      return Seen(places, look: isOnMainQueue)
    }
    #expect(places.content == [true, true])
  }

  @Test("A scope lets go at its end of all that it tracked, each by its name")
  func scope() async {
    let clean = await expectNoLeaks { scope in
      scope.track(Screen())
      scope.track(Holder(Leaf()), as: "holder")
    }
    #expect(clean.paths.isEmpty)
    #expect(clean.objectCount == 3)
    let leaky = await observing {
      await expectNoLeaks(Self.noGrace) { scope in
        let screen = scope.track(Screen(), as: "screen")
        screen.parent = screen
        scope.track(Leaf())
      }
    }
    #expect(leaky.paths == ["screen"])
    #expect(leaky.leaks.map(\.cycles) == [["screen → parent? → screen"]])
  }

  @Test("A scope that somebody keeps holds nothing after its end")
  func keptScope() async {
    let kept = Holder<LeakScope?>(nil)
    let result = await expectNoLeaks(Self.noGrace) { scope in
      kept.content = scope
      scope.track(Screen())
    }
    #expect(result.paths.isEmpty)
    #expect(kept.content != nil)
  }

  @Test("A scope in which nothing is tracked fails, and so does one that tracks no object")
  func emptyScope() async {
    let empty = await observing { await expectNoLeaks { _ in } }
    #expect(empty.failure == "nothing was inspected: no object was tracked")
    let values = await observing { await expectNoLeaks { $0.track(1) } }
    #expect(values.failure == "nothing was inspected: no object was tracked")
  }

  @Test("A cancelled test does not wait, and says so")
  func cancelled() async {
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await observing {
        await expectNoLeak(LeakOptions(grace: .seconds(600))) { () async in
          let screen = Screen()
          screen.parent = screen
          return screen
        }
      }
    }
    task.cancel()
    let result = await task.value
    #expect(result.paths == ["self"])
    #expect(result.notes == ["the test was cancelled: not waited for what was to be let go"])
  }
}
