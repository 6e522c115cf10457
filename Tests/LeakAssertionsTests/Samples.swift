import LeakAssertions
import Synchronization
import Testing

/// An object at the end of a way, and perhaps the start of one back.
///
/// `@unchecked Sendable`: each is used by one test, on one thread at a time.
final class Leaf: Hashable, @unchecked Sendable {
  var back: AnyObject?

  static func == (left: Leaf, right: Leaf) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// An object that holds one value of any type.
final class Holder<Content> {
  var content: Content

  init(_ content: Content) {
    self.content = content
  }
}

/// A screen that a cycle holds or does not.
final class Screen {
  var parent: AnyObject?
  var onDone: (() -> Void)?
  var onCancel: (() -> Void)?
  var parts: [Screen] = []
  let name: String

  init(_ name: String = "screen") {
    self.name = name
  }
}

/// Runs an assertion that may fail, and sees to it that the test framework was told exactly what the result says.
func observing(_ check: () -> LeakResult) -> LeakResult {
  let told = Mutex<[String]>([])
  var result: LeakResult?
  withKnownIssue(isIntermittent: true) {
    result = check()
  } matching: { issue in
    told.withLock { $0 += issue.comments.map(\.rawValue) }
    return true
  }
  return settle(result, told: told.withLock { $0 })
}

/// Runs an asynchronous assertion that may fail, and sees to it that the test framework was told what the result says.
func observing(_ check: () async -> LeakResult) async -> LeakResult {
  let told = Mutex<[String]>([])
  var result: LeakResult?
  await withKnownIssue(isIntermittent: true) {
    result = await check()
  } matching: { issue in
    told.withLock { $0 += issue.comments.map(\.rawValue) }
    return true
  }
  return settle(result, told: told.withLock { $0 })
}

private func settle(_ result: LeakResult?, told: [String]) -> LeakResult {
  guard let result else {
    preconditionFailure("the body of withKnownIssue is always run")
  }
  #expect(told == [result.failure].compactMap(\.self))
  return result
}
