import GateCore
import Testing

@testable import GateProbe

@Suite("Whether somebody accepts connections", .timeLimit(.minutes(2)))
struct ConnectionTests {
  let harness = ScenarioHarness()

  @Test("Nobody listens on a free port, nor at a path without a socket")
  func nobody() throws {
    let port = try ScenarioHarness.freePort()
    #expect(!Connection.isAccepted(host: "127.0.0.1", port: port, within: .seconds(5)))
    #expect(!Connection.isAccepted(host: "localhost", port: port, within: .seconds(5)))
    #expect(!Connection.isAccepted(atSocket: harness.path("none"), within: .seconds(5)))
    #expect(!Connection.isAccepted(atSocket: "/" + String(repeating: "x", count: 200), within: .seconds(5)))
  }

  @Test("A socket that was connected to itself is nobody")
  func itself() throws {
    // With the port range of outgoing connections narrowed to it, the first try would do; so it takes many.
    let port = try ScenarioHarness.freePort()
    let accepted = (0..<30_000).contains { _ in
      Connection.isAccepted(host: "127.0.0.1", port: port, within: .seconds(5))
    }
    #expect(!accepted)
  }
}
