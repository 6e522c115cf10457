import Testing
import XCTest

/// The location of an assertion in a test, for both test frameworks.
struct CallSite {
  let fileID: String
  let file: StaticString
  let line: UInt
  let column: Int

  /// Fails the running test if the result has a failure.
  ///
  /// In a detached task the framework is unknown: the failure is then reported to both, and the one that is not running
  /// ignores it.
  func report(_ result: LeakResult) -> LeakResult {
    guard let failure = result.failure else {
      return result
    }
    let location = SourceLocation(fileID: fileID, filePath: "\(file)", line: Int(line), column: column)
    Issue.record(Comment(rawValue: failure), sourceLocation: location)
    if Test.current == nil {
      XCTFail(failure, file: file, line: line)
    }
    return result
  }
}
