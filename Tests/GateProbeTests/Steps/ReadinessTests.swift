import GateCore
import Testing

@testable import GateProbe

@Suite("Waiting for a target to be ready", .timeLimit(.minutes(5)))
struct ReadinessTests {
  let harness = ScenarioHarness()

  /// Plays a target that is waited for, then marks the instant.
  private func play(_ scenario: Scenario, ready: Readiness.Condition, within: Duration = .seconds(30)) throws
    -> Recording
  {
    var scenario = scenario
    scenario.ready = Readiness(ready, within: within)
    scenario.steps = [Step(.mark("ready"))]
    return try harness.play(scenario)
  }

  private func expectReady(_ recording: Recording, at location: SourceLocation = #_sourceLocation) {
    #expect(recording.failure == nil, sourceLocation: location)
    #expect(recording.events == [.mark("ready")], sourceLocation: location)
    #expect(recording.end.kind == .stopped, sourceLocation: location)
  }

  @Test("A line of the output")
  func log() throws {
    let ready = Readiness.Condition.log(try Pattern(parsing: "port [0-9]+$"))
    expectReady(
      try play(harness.scenario("echo starting; sleep 0.2; echo 'on port 12'; exec sleep 1000"), ready: ready))
  }

  @Test("A line without its newline")
  func prompt() throws {
    expectReady(try play(harness.scenario("printf '> '; exec sleep 1000"), ready: .log(try Pattern(parsing: "^> "))))
  }

  @Test("A port that accepts", arguments: ["127.0.0.1", "localhost"])
  func tcp(host: String) throws {
    let port = try ScenarioHarness.freePort()
    let server = harness.python(
      """
      import socket, time
      time.sleep(0.2)
      s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('127.0.0.1', \(port)))
      s.listen(); open('listening', 'w').close(); time.sleep(1000)
      """)
    expectReady(try play(server, ready: .tcp(host: host, port: port)))
    #expect(access(harness.path("listening")))
  }

  @Test("A socket in the file system, also where a dead one lies about")
  func unix() throws {
    let path = harness.path("socket")
    var server = harness.python(
      """
      import socket, time, os
      time.sleep(0.2); os.unlink('socket')
      s = socket.socket(socket.AF_UNIX); s.bind('socket'); s.listen(); time.sleep(1000)
      """)
    server.setup = [.arguments(["python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('socket')"])]
    expectReady(try play(server, ready: .unix(path)))
  }

  @Test("An HTTP server that answers well", arguments: ["", "file.txt"])
  func http(path: String) throws {
    let port = try ScenarioHarness.freePort()
    let line = "echo hello > file.txt; sleep 0.2; exec python3 -m http.server -b 127.0.0.1 \(port)"
    expectReady(try play(harness.scenario(line), ready: .http("http://127.0.0.1:\(port)/\(path)")))
  }

  @Test("An HTTP server that answers with an error is not ready")
  func httpError() throws {
    let port = try ScenarioHarness.freePort()
    let server = harness.scenario("exec python3 -m http.server -b 127.0.0.1 \(port)")
    let recording = try play(server, ready: .http("http://127.0.0.1:\(port)/none"), within: .seconds(2))
    #expect(recording.end == End(.timeout, cause: .timeout(.notReady(within: .seconds(2)), limitHits: nil)))
  }

  @Test("A file that appears")
  func file() throws {
    expectReady(try play(harness.scenario("sleep 0.2; touch up; exec sleep 1000"), ready: .file(harness.path("up"))))
  }

  @Test("A command that succeeds at last")
  func command() throws {
    let check = Command.shell("echo try >> tries; test -e up")
    expectReady(try play(harness.scenario("sleep 0.4; touch up; exec sleep 1000"), ready: .command(check)))
    #expect(harness.text("tries").split(separator: "\n").count > 1)
  }

  @Test("Time that passes")
  func delay() throws {
    let recording = try play(harness.scenario("exec sleep 1000"), ready: .delay(.milliseconds(300)))
    expectReady(recording)
    #expect(recording.marks.allSatisfy { $0.time >= .milliseconds(300) })
  }

  @Test(
    "A target that does not get ready in time is a timeout",
    arguments: [
      .tcp(host: "127.0.0.1", port: 1), .unix("/nowhere/socket"),
      .file("/nowhere/file"), .command(.shell("exit 1")), .command(.shell("sleep 1000")), .delay(.seconds(1000)),
      .http("http://127.0.0.1:1/"),
    ] as [Readiness.Condition]
  )
  func late(condition: Readiness.Condition) throws {
    let recording = try play(harness.scenario("echo up; exec sleep 1000"), ready: condition, within: .milliseconds(300))
    #expect(recording.end == End(.timeout, cause: .timeout(.notReady(within: .milliseconds(300)), limitHits: nil)))
    #expect(recording.failure?.part == .init(.ready, text: condition.displayText))
    #expect(recording.failure?.output == "up")
    #expect(recording.events == [])
  }

  @Test("A line that never comes is a timeout")
  func silent() throws {
    let condition = Readiness.Condition.log(try Pattern(parsing: "never"))
    let recording = try play(harness.scenario("echo up; exec sleep 1000"), ready: condition, within: .milliseconds(300))
    #expect(recording.end == End(.timeout, cause: .timeout(.notReady(within: .milliseconds(300)), limitHits: nil)))
  }

  @Test("A target that ends first was never ready")
  func ended() throws {
    let never = try Pattern(parsing: "never")
    let recording = try play(harness.scenario("echo oops; exit 3"), ready: .log(never))
    #expect(recording.end == End(.exited, code: 3))
    #expect(recording.failure?.problem == .targetEnded(.exited(3), isBefore: false))
    #expect(recording.failure?.output == "oops")
  }

  @Test("What a target printed just before its end still makes it ready")
  func lastWords() throws {
    var scenario = harness.scenario("echo ready; exit 0")
    scenario.ready = Readiness(.log(try Pattern(parsing: "ready")))
    // Whether it ends before it is asked to is up to the scheduler.
    let recording = try harness.play(scenario)
    #expect(recording.failure == nil)
    #expect([.exited, .stopped].contains(recording.end.kind))
  }

  @Test("A port, socket, URL or file that is taken before the start fails it, and the target is not started")
  func taken() throws {
    let other = ScenarioHarness()
    let port = try ScenarioHarness.freePort()
    let socket = other.path("socket")
    var holder = other.python(
      """
      import socket, time, threading, http.server
      u = socket.socket(socket.AF_UNIX); u.bind('socket'); u.listen()
      s = http.server.HTTPServer(('127.0.0.1', \(port)), http.server.SimpleHTTPRequestHandler)
      print('up'); s.serve_forever()
      """)
    holder.ready = Readiness(.log(try Pattern(parsing: "up")))
    let conditions: [(Readiness.Condition, Failure.Resource)] = [
      (.tcp(host: "127.0.0.1", port: port), .port(port)),
      (.unix(socket), .socket(socket)),
      (.http("http://u:p@127.0.0.1:\(port)/x"), .port(port)),
      (.file(socket), .file(socket)),
    ]
    let processTree = try ProcessTree(
      starting: LaunchRequest(
        words: holder.target.command.words, environment: other.testProcesses.environment,
        workingDirectory: other.folder,
        output: 2))
    try #require(eventually { Connection.isAccepted(host: "127.0.0.1", port: port, within: .seconds(1)) })
    for (condition, resource) in conditions {
      let recording = try play(harness.scenario("touch started"), ready: condition)
      #expect(recording.end == End(.startFailed, cause: .startFailed(.alreadyInUse(resource))))
      #expect(recording.failure?.problem == .alreadyInUse(resource))
    }
    #expect(!access(harness.path("started")))
    processTree.killAll()
  }

  private func access(_ path: String) -> Bool {
    SmallFile.bytes(at: path) != nil
  }
}
