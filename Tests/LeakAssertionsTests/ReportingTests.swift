import LeakAssertions
import Synchronization
import Testing
import XCTest

@Suite("Reporting to test frameworks")
struct ReportingTests {
  @Test("Swift Testing gets the caller's file and line, also under withKnownIssue")
  func swiftTesting() {
    let places = Mutex<[SourceLocation]>([])
    let before = #_sourceLocation
    withKnownIssue {
      expectNoLeak { looped() }
    } matching: { issue in
      places.withLock { $0 += [issue.sourceLocation].compactMap(\.self) }
      return true
    }
    let seen = places.withLock { $0 }
    #expect(seen.map(\.fileID) == [before.fileID])
    #expect(seen.map(\.line) == [before.line + 2])
  }

  @Test("Asynchronous assertions report it as well")
  func asynchronous() async {
    let places = Mutex<[Int]>([])
    let before = #_sourceLocation
    await withKnownIssue {
      await expectNoLeak(LeakOptions(grace: .zero)) { () async in looped() }
      await expectNoLeaks { _ in }
    } matching: { issue in
      places.withLock { $0 += [issue.sourceLocation?.line].compactMap(\.self) }
      return true
    }
    #expect(places.withLock { $0 } == [before.line + 2, before.line + 3])
  }
}

/// The same in XCTest: the test case records its failures.
final class XCTestReportingTests: XCTestCase {
  private struct Failure: Equatable {
    let text: String
    let file: String
    let line: Int
  }

  private var isRecording = false
  private var failures: [Failure] = []

  override func recordFailure(
    withDescription text: String,
    inFile file: String,
    atLine line: Int,
    expected: Bool
  ) {
    guard isRecording else {
      return super.recordFailure(withDescription: text, inFile: file, atLine: line, expected: expected)
    }
    failures.append(Failure(text: text, file: file, line: line))
  }

  func testALeakFailsAtTheCallersLine() {
    isRecording = true
    expectNoLeak { looped() }
    let line = #line - 1
    isRecording = false
    let text = "failed - 1 object leaked:\n- self: Screen\n    self → parent? → self"
    XCTAssertEqual(failures, [Failure(text: text, file: #filePath, line: line)])
  }

  func testALeakOfAnAsynchronousBuilderFailsAtTheCallersLine() async {
    isRecording = true
    await expectNoLeak(LeakOptions(grace: .zero)) { () async in looped() }
    let line = #line - 1
    isRecording = false
    XCTAssertEqual(failures.map(\.line), [line])
    XCTAssertEqual(failures.map(\.file), [#filePath])
  }

  func testALeakInADetachedTaskFailsTheTestThatRuns() async {
    isRecording = true
    await Task.detached { _ = expectNoLeak { looped() } }.value
    isRecording = false
    XCTAssertEqual(failures.count, 1)
  }

  func testABodyThatTracksNothingFails() async {
    isRecording = true
    await expectNoLeaks { _ in }
    isRecording = false
    XCTAssertEqual(failures.map(\.text), ["failed - nothing was checked: no object was tracked"])
  }

  func testNoLeakFailsNothing() {
    isRecording = true
    expectNoLeak { Screen() }
    isRecording = false
    XCTAssertEqual(failures, [])
  }
}

private func looped() -> Screen {
  let screen = Screen()
  screen.parent = screen
  return screen
}
