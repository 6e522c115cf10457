import Dispatch
import Foundation
import Synchronization
import Testing

@testable import GateApplication

@Suite("Ticker")
struct TickerTests {
  private final class Token: Sendable {}

  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }

  @Test("It calls its function again and again, and lets go of it when it is released", .timeLimit(.minutes(60)))
  func ticks() throws {
    let count = DispatchSemaphore(value: 0)
    weak var held: Token?
    do {
      let token = Token()
      held = token
      let ticker = Ticker(every: .milliseconds(1)) { [token] in _ = (token, count.signal()) }
      try #require(ticker != nil)
      for _ in 1...3 { count.wait() }
      withExtendedLifetime(ticker) {}
    }
    while held != nil { usleep(1000) }
  }

  @Test("After its stop nothing is called, and a call that has begun is over", .timeLimit(.minutes(60)))
  func stops() throws {
    let (begun, inside) = (DispatchSemaphore(value: 0), Flag())
    let ticker = try #require(
      Ticker(every: .milliseconds(1)) {
        inside.isSet.store(true, ordering: .sequentiallyConsistent)
        begun.signal()
        usleep(20_000)
        inside.isSet.store(false, ordering: .sequentiallyConsistent)
      })
    begun.wait()
    ticker.stop()
    let isInside = inside.isSet.load(ordering: .sequentiallyConsistent)
    #expect(!isInside)
  }
}
