import Dispatch
import Glibc
import LeakAssertions
import Testing

@Suite("Leaks in asynchronous code", .timeLimit(.minutes(60)))
struct AsyncTests {
  // Long enough for a machine on which other tests occupy all threads.
  private static var longTimeLimit: LeakOptions { LeakOptions(timeLimit: .seconds(240)) }
  private static var noGrace: LeakOptions { LeakOptions(grace: .zero, timeLimit: .seconds(240)) }

  @Test("The result of an asynchronous builder is checked like any other")
  func builder() async {
    let clean = await expectNoLeak(Self.longTimeLimit) { () async in
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

  @Test("A builder that never ends fails after the time limit, and the test continues")
  func endless() async {
    let result = await observing {
      await expectNoLeak(LeakOptions(timeLimit: .milliseconds(50))) { () async in
        // The continuation is never resumed.
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return Leaf()
      }
    }
    #expect(result.failure == "nothing was checked: the builder did not finish within 0.05 seconds")
    #expect(result.objectCount == 0)
  }

  @Test("An error of the builder is rethrown")
  func throwing() async {
    struct BuilderError: Error {}
    await #expect(throws: BuilderError.self) {
      try await expectNoLeak(Self.longTimeLimit) { () async throws -> Leaf in throw BuilderError() }
    }
  }

  @Test("An object that a task releases within the grace period is not a leak")
  func grace() async {
    let released = await expectNoLeak(LeakOptions(grace: .seconds(240), timeLimit: .seconds(240))) { () async in
      let leaf = Leaf()
      Task {
        try? await Task.sleep(for: .milliseconds(50))
        _ = leaf.back
      }
      return leaf
    }
    #expect(released.paths.isEmpty)
    let (gate, open) = AsyncStream<Void>.makeStream()
    let held = await observing {
      await expectNoLeak(Self.noGrace) { () async in
        let leaf = Leaf()
        Task {
          for await _ in gate {}
          _ = leaf.back
        }
        return leaf
      }
    }
    #expect(held.paths == ["self"])
    open.finish()
  }

  @Test("An object can have its own grace period")
  func ownGrace() {
    final class Slow: LeakTraversable, Sendable {
      var leakGrace: Duration { .seconds(240) }
    }
    let result = expectNoLeak {
      let slow = Slow()
      // It is released later by a thread that does not run tests.
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
    #expect(await expectNoLeak(Self.longTimeLimit) { () async in Worker() }.paths.isEmpty)
  }

  @Test("A builder runs on the caller's actor, and so does the walk")
  @MainActor
  func mainActor() async {
    // Any thread may run the main queue, so the queue itself is identified.
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
    await expectNoLeak(LeakOptions(ignoreInstances: [places, key], timeLimit: .seconds(240))) { () async in
      places.content.append(isOnMainQueue())
      return Seen(places, look: isOnMainQueue)
    }
    #expect(places.content == [true, true])
  }

  @Test("A scope releases all tracked values at its end, and paths start with their names")
  func scope() async {
    let clean = await expectNoLeaks(Self.longTimeLimit) { scope in
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

  @Test("A scope that is kept holds nothing after its end")
  func keptScope() async {
    let kept = Holder<LeakScope?>(nil)
    let result = await expectNoLeaks(Self.noGrace) { scope in
      kept.content = scope
      scope.track(Screen())
    }
    #expect(result.paths.isEmpty)
    #expect(kept.content != nil)
  }

  @Test("A scope fails if nothing is tracked, or only values without objects")
  func emptyScope() async {
    let empty = await observing { await expectNoLeaks(Self.longTimeLimit) { _ in } }
    #expect(empty.failure == "nothing was checked: no object was tracked")
    let values = await observing { await expectNoLeaks(Self.longTimeLimit) { $0.track(1) } }
    #expect(values.failure == "nothing was checked: no object was tracked")
  }

  @Test("A cancelled test does not wait, and the result has a note")
  func cancelled() async {
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await observing {
        await expectNoLeak(LeakOptions(grace: .seconds(600), timeLimit: .seconds(240))) { () async in
          let screen = Screen()
          screen.parent = screen
          return screen
        }
      }
    }
    task.cancel()
    let result = await task.value
    #expect(result.paths == ["self"])
    #expect(result.notes == ["the test was cancelled before the grace period ended"])
  }
}
