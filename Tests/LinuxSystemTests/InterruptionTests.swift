import Glibc
import LinuxSystem
import Synchronization
import Testing

@Suite("An interruption")
struct InterruptionTests {
  @Test("The first signal counts, and calls the handler once")
  func firstCounts() {
    let interruption = Interruption()
    let woken = Mutex(0)
    #expect(interruption.signal == nil)
    interruption.whileWatching {
      woken.withLock { $0 += 1 }
    } body: {
      interruption.request(by: SIGINT)
      interruption.request(by: SIGTERM)
    }
    #expect(interruption.signal == SIGINT)
    #expect(woken.withLock { $0 } == 1)
  }

  @Test("A handler that is added afterwards is called at once, and none after its watch")
  func late() {
    let interruption = Interruption()
    let woken = Mutex(0)
    interruption.whileWatching {
      woken.withLock { $0 += 1 }
    } body: {
    }
    interruption.request(by: SIGTERM)
    #expect(woken.withLock { $0 } == 0)
    interruption.whileWatching {
      woken.withLock { $0 += 1 }
    } body: {
    }
    #expect(woken.withLock { $0 } == 1)
  }
}
