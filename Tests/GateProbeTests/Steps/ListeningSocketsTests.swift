import GateCore
import LinuxSystem
import Testing

@testable import GateProbe

@Suite("The sockets on which a target listens", .timeLimit(.minutes(60)))
struct ListeningSocketsTests {
  @Test(
    "A line of /proc/net/tcp or tcp6",
    arguments: [
      ("0100007F:1F90 00000000:0000 0A", .tcp(host: "127.0.0.1", port: 8080)),
      ("00000000:0050 00000000:0000 0A", .tcp(host: "127.0.0.1", port: 80)),
      ("0300A8C0:0050 00000000:0000 0A", .tcp(host: "192.168.0.3", port: 80)),
      ("00000000000000000000000001000000:0050 0:0000 0A", .tcp(host: "::1", port: 80)),
      ("00000000000000000000000000000000:0050 0:0000 0A", .tcp(host: "127.0.0.1", port: 80)),
      ("0000000000000000FFFF00000100007F:0050 0:0000 0A", .tcp(host: "127.0.0.1", port: 80)),
      ("000080FE000000000000000001000000:0050 0:0000 0A", nil), ("0100007F:1F90 0100007F:A000 01", nil), ("x", nil),
    ] as [(String, Readiness.Condition?)])
  func tcp(fields: String, condition: Readiness.Condition?) {
    let line = "   0: \(fields) 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100"
    let expected = condition.map { ListeningSockets.Entry(inode: 4711, condition: $0) }
    #expect(ListeningSockets.tcp(line[...]) == expected)
  }

  @Test("A target's own sockets are found, also that of a port that was chosen for it")
  func real() throws {
    let harness = ScenarioHarness()
    var scenario = harness.python(
      """
      import os, socket, time
      free, other = socket.create_server(("127.0.0.1", int(os.environ["PORT"]))), socket.create_server(("", 0))
      unix = socket.socket(socket.AF_UNIX); unix.bind("its socket"); unix.listen()
      abstract = socket.socket(socket.AF_UNIX); abstract.bind("\\0name"); abstract.listen()
      unused = socket.socket(); print(f"port {other.getsockname()[1]}")
      time.sleep(1000)
      """)
    scenario.target.environment["PORT"] = FreePort.placeholder
    // Both limits only end a hang: Python starts slowly on a busy machine.
    scenario.ready = Readiness(.log(try Pattern(parsing: "port")), within: .seconds(600))
    scenario.timeout = .seconds(600)
    scenario.steps = [Step(.mark("end"))]
    #expect(try harness.run(scenario).listeners == [])
    try? Descriptor.folder(harness.folder).remove("its socket")
    scenario.findsListeners = true
    let recording = try harness.run(scenario)
    try #require(recording.failure == nil, "\(recording)")
    let port = try #require(Int(recording.outputTail.drop { !$0.isNumber }.prefix { $0.isNumber }))
    let found: [Readiness.Condition] = [
      .tcp(host: "127.0.0.1", port: nil), .tcp(host: "127.0.0.1", port: port), .unix(harness.path("its socket")),
    ]
    #expect(Set(recording.listeners.map { "\($0)" }) == Set(found.map { "\($0)" }))
  }
}
