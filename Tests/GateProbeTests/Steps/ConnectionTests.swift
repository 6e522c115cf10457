import GateCore
import Testing

@testable import GateProbe

@Suite("Checking for a listener", .timeLimit(.minutes(60)))
struct ConnectionTests {
  let harness = ScenarioHarness()

  @Test("A free port and a path without a socket have no listener")
  func noListener() throws {
    let port = try ScenarioHarness.freePort()
    #expect(!Connection.isAccepted(host: "127.0.0.1", port: port, within: .seconds(5)))
    #expect(!Connection.isAccepted(host: "localhost", port: port, within: .seconds(5)))
    #expect(!Connection.isAccepted(atSocket: harness.path("none"), within: .seconds(5)))
    #expect(!Connection.isAccepted(atSocket: "/" + String(repeating: "x", count: 200), within: .seconds(5)))
  }

  @Test("A socket connected to itself does not count as a listener")
  func selfConnection() throws {
    // Needs many attempts, until the kernel assigns this port of the ephemeral range as the source port.
    let port = try ScenarioHarness.freePort()
    let accepted = (0..<30_000).contains { _ in
      Connection.isAccepted(host: "127.0.0.1", port: port, within: .seconds(5))
    }
    #expect(!accepted)
  }
}
