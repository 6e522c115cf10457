import LeakAssertions
import XCTest

@testable import Documents

/// The same assertions in XCTest; use either framework.
final class SessionLeakTests: XCTestCase {
  func testFreshSession() {
    expectNoLeak { makeService().begin(Request("GET", "/documents/1")) }
  }

  func testAnsweredSession() async {
    await expectNoLeak {
      let session = makeService().begin(Request("GET", "/documents/1"))
      _ = await session.run()
      return session
    }
  }
}
