import LeakAssertions
import MemoryMarkers
import Names
import XCTest

/// The libraries beside a module with common names: that this compiles is the test.
final class NamesTests: XCTestCase {
  func testNoNameIsAmbiguous() {
    let types: [Any.Type] = [
      Tag.self, Policy.self, Activity.self, Proof.self, Sender.self, Heartbeat.self, Durability.self, Killer.self,
      OOMKind.self, Leak.self, Trait.self, Test.self, Issue.self,
    ]
    XCTAssertEqual(types.count, 13)
    expectNoLeak { LoopHunter(turn: ManualTurn()) { _ in } }
  }
}
