import Dispatch
import Foundation
import LeakAssertions
import Testing

@Suite("Cycles through objects of the toolchain")
struct ToolchainTests {
  /// An object that holds one value, which can be made from it.
  ///
  /// `@unchecked Sendable`: each is used by one test, on one thread at a time.
  final class Owner: @unchecked Sendable {
    var content: Any?
  }

  private func leak(_ content: @escaping (Owner) -> Any) -> LeakResult {
    observing {
      expectNoLeak {
        let owner = Owner()
        owner.content = content(owner)
        return owner
      }
    }
  }

  @Test("A cycle through a Foundation collection, an erased sequence or a timer is listed")
  func cycles() {
    let array = leak { NSMutableArray(array: [$0]) }
    #expect(array.leaks.map(\.cycles) == [["self → content?._storage[0].value → self"]])
    let sequence = leak { owner in AnySequence([owner]) }
    #expect(sequence.leaks.first?.cycles.count == 1)
    let timer = leak { owner in Timer(timeInterval: 60, repeats: true) { _ in _ = owner } }
    #expect(timer.leaks.first?.cycles.count == 1, "\(timer)")
  }

  @Test("A task, a Dispatch source and an observer are named as what may hold the object, not a local variable")
  func opaque() {
    let task = leak { owner in Task { while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)); _ = owner } }
    }
    #expect(
      task.failure?.contains("hint: `self.content?` is a task, whose captures cannot be read; it may hold `self`")
        == true,
      "\(task)")
    let source = leak { owner in
      let source = DispatchSource.makeTimerSource()
      source.setEventHandler { _ = owner }
      source.activate()
      return source
    }
    #expect(source.failure?.contains("is an object of Dispatch, whose handlers cannot be read") == true, "\(source)")
    #expect(source.failure?.contains("local variable") == false)
    let observer = leak { owner in
      NotificationCenter.default.addObserver(forName: .init("never"), object: nil, queue: nil) { _ in _ = owner }
    }
    #expect(observer.failure?.contains("is an observer of a NotificationCenter") == true, "\(observer)")
  }

  nonisolated(unsafe) private static let pattern = /a+(b|c)/

  @Test("A shared regular expression is not a leak")
  func regex() {
    let result = expectNoLeak { Holder((ToolchainTests.pattern, Leaf())) }
    #expect(result.paths.isEmpty)
  }
}
