import LeakAssertions
import Synchronization
import Testing

/// An object at the end of a path, which may reference the root.
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

/// An object with several kinds of references.
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

/// Runs an assertion that may fail, and checks that exactly its failure was reported to the test framework.
func observing(_ check: () -> LeakResult) -> LeakResult {
  let reported = Mutex<[String]>([])
  var result: LeakResult?
  withKnownIssue(isIntermittent: true) {
    result = check()
  } matching: { issue in
    reported.withLock { $0 += issue.comments.map(\.rawValue) }
    return true
  }
  return verify(result, reported: reported.withLock { $0 })
}

/// Runs an asynchronous assertion that may fail, and checks that exactly its failure was reported.
func observing(_ check: () async -> LeakResult) async -> LeakResult {
  let reported = Mutex<[String]>([])
  var result: LeakResult?
  await withKnownIssue(isIntermittent: true) {
    result = await check()
  } matching: { issue in
    reported.withLock { $0 += issue.comments.map(\.rawValue) }
    return true
  }
  return verify(result, reported: reported.withLock { $0 })
}

private func verify(_ result: LeakResult?, reported: [String]) -> LeakResult {
  guard let result else {
    preconditionFailure("the body of withKnownIssue is always run")
  }
  #expect(reported == [result.failure].compactMap(\.self))
  return result
}
