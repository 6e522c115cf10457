import GateCore
import Synchronization
import Testing

@Suite("An interruption")
struct InterruptionTests {
  @Test("The first signal counts, and wakes whoever watches, once")
  func firstCounts() {
    let interruption = Interruption()
    let woken = Mutex(0)
    #expect(interruption.signal == nil)
    interruption.whileWatching {
      woken.withLock { $0 += 1 }
    } body: {
      interruption.request(by: .int)
      interruption.request(by: .term)
    }
    #expect(interruption.signal == .int)
    #expect(woken.withLock { $0 } == 1)
  }

  @Test("Whoever begins to watch afterwards is woken at once, and nobody after the watch")
  func late() {
    let interruption = Interruption()
    let woken = Mutex(0)
    interruption.whileWatching {
      woken.withLock { $0 += 1 }
    } body: {
    }
    interruption.request(by: .term)
    #expect(woken.withLock { $0 } == 0)
    interruption.whileWatching {
      woken.withLock { $0 += 1 }
    } body: {
    }
    #expect(woken.withLock { $0 } == 1)
  }
}
