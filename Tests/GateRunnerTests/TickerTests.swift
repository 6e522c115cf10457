import Dispatch
import Foundation
import Testing

@testable import GateRunner

@Suite("Ticker")
struct TickerTests {
  private final class Token: Sendable {}

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
}
