import Testing
import XCTest

/// Where a test calls an assertion, in the terms of both test frameworks.
struct CallSite {
  let file: StaticString
  let line: UInt
  let sourceLocation: SourceLocation

  /// Fails the test that is running, if there is something to say.
  ///
  /// In a detached task no framework is known: both are told then, and the one that is not running does nothing.
  func report(_ result: LeakResult) -> LeakResult {
    guard let failure = result.failure else {
      return result
    }
    Issue.record(Comment(rawValue: failure), sourceLocation: sourceLocation)
    if Test.current == nil {
      XCTFail(failure, file: file, line: line)
    }
    return result
  }
}
