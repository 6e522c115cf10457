import Foundation
import GateCore
import Testing

@testable import GateProbe

@Suite("Waiting for a target to be ready", .timeLimit(.minutes(60)))
struct ReadinessTests {
  let harness = ScenarioHarness()

  /// Runs a scenario that waits for readiness and then adds a mark.
  private func run(_ scenario: Scenario, ready: Readiness.Condition, within: Duration = .seconds(30)) throws
    -> Recording
  {
    var scenario = scenario
    scenario.ready = Readiness(ready, within: within)
    scenario.steps = [Step(.mark("ready"))]
    return try harness.run(scenario)
  }

  private func expectReady(_ recording: Recording, at location: SourceLocation = #_sourceLocation) {
    #expect(recording.failure == nil, sourceLocation: location)
    #expect(recording.events == [.mark("ready")], sourceLocation: location)
    #expect(recording.end.kind == .stopped, sourceLocation: location)
  }

  @Test("A matching line makes the target ready")
  func log() throws {
    let ready = Readiness.Condition.log(try Pattern(parsing: "port [0-9]+$"))
    expectReady(
      try run(harness.scenario("echo starting; sleep 0.2; echo 'on port 12'; exec sleep 1000"), ready: ready))
  }

  @Test("A matching incomplete line makes the target ready")
  func prompt() throws {
    expectReady(try run(harness.scenario("printf '> '; exec sleep 1000"), ready: .log(try Pattern(parsing: "^> "))))
  }

  @Test("A mark of the target makes it ready; another mark does not")
  func mark() throws {
    let marks = "echo mark starting > $HIGHWATER_MARKS; sleep 0.2; echo mark loaded > $HIGHWATER_MARKS"
    var scenario = harness.scenario("\(marks); exec sleep 1000")
    scenario.ready = Readiness(.mark("loaded"))
    scenario.steps = [Step(.mark("ready"))]
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect(recording.events == [.mark("starting"), .mark("loaded"), .mark("ready")])
  }

  @Test("A target that never sets the mark is not ready in time")
  func missingMark() throws {
    let other = "echo mark starting > $HIGHWATER_MARKS; exec sleep 1000"
    let recording = try run(harness.scenario(other), ready: .mark("loaded"), within: .milliseconds(300))
    #expect(recording.failure?.part == .init(.ready, text: "mark: loaded"))
    #expect(recording.events.contains(.mark("ready")) == false)
  }

  @Test("A port that accepts connections makes the target ready", arguments: ["127.0.0.1", "localhost"])
  func tcp(host: String) throws {
    let port = try ScenarioHarness.freePort()
    let server = harness.python(
      """
      import socket, time
      time.sleep(0.2)
      s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('127.0.0.1', \(port)))
      s.listen(); open('listening', 'w').close(); time.sleep(1000)
      """)
    expectReady(try run(server, ready: .tcp(host: host, port: port)))
    #expect(access(harness.path("listening")))
  }

  @Test("A socket's path may be longer than an address; a name that is longer fails the start")
  func longSocketPath() throws {
    let folder = String(repeating: "d", count: 120)
    let server = harness.python(
      """
      import os, socket, time
      os.mkdir('\(folder)'); os.chdir('\(folder)')
      s = socket.socket(socket.AF_UNIX); s.bind('socket'); s.listen(); time.sleep(1000)
      """)
    expectReady(try run(server, ready: .unix(harness.path("\(folder)/socket"))))
    let path = harness.path(String(repeating: "s", count: 108))
    let failure = try run(harness.scenario("exec sleep 1000"), ready: .unix(path)).failure
    #expect(failure?.problem == .system(failure: SystemFailure(.connect, path: path, code: ENAMETOOLONG)))
  }

  @Test("A line that takes too long to search ends neither the wait nor the search of later lines")
  func slowPattern() throws {
    let line = "head -c 40 /dev/zero | tr '\\0' a; echo; echo ready; exec sleep 1000"
    let recording = try run(harness.scenario(line), ready: .log(try Pattern(parsing: "(a+)+$x|ready")))
    expectReady(recording)
    #expect(recording.notes == [.patternTooSlow(pattern: "(a+)+$x|ready")])
    let never = try run(
      harness.scenario(line), ready: .log(try Pattern(parsing: "(a+)+$x")), within: .milliseconds(100))
    #expect(never.failure?.problem == .timeout(kind: .notReady(within: .milliseconds(100))))
  }

  @Test("Each repetition has a free port of its own for `{{port}}`")
  func freePort() throws {
    var server = harness.scenario("echo $PORT; exec python3 -m http.server -b 127.0.0.1 $PORT")
    server.target.environment["PORT"] = "{{port}}"
    server.ready = Readiness(.tcp(host: "127.0.0.1", port: nil))
    server.steps = [
      Step(.http(Step.HTTPCall(url: "http://127.0.0.1:{{ port }}/"))),
      Step(.run(Step.Client(command: .shell("echo {{port}} >> ports")))),
    ]
    for _ in 0..<2 { #expect(try harness.run(server).failure == nil) }
    let ports = harness.text("ports").split(separator: "\n")
    #expect(ports.count == 2 && Set(ports).count == 2 && ports.allSatisfy { (1...65535).contains(Int($0) ?? 0) })
  }

  @Test("A Unix socket makes the target ready, even if a stale one existed before")
  func unix() throws {
    let path = harness.path("socket")
    var server = harness.python(
      """
      import socket, time, os
      time.sleep(0.2); os.unlink('socket')
      s = socket.socket(socket.AF_UNIX); s.bind('socket'); s.listen(); time.sleep(1000)
      """)
    server.setup = [.arguments(["python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('socket')"])]
    expectReady(try run(server, ready: .unix(path)))
  }

  @Test("A successful HTTP response makes the target ready", arguments: ["", "file.txt"])
  func http(path: String) throws {
    let port = try ScenarioHarness.freePort()
    let line = "echo hello > file.txt; sleep 0.2; exec python3 -m http.server -b 127.0.0.1 \(port)"
    expectReady(try run(harness.scenario(line), ready: .http("http://127.0.0.1:\(port)/\(path)")))
  }

  @Test("A target that responds with an HTTP error, or not at all, or fails a command, is not ready, and that is told")
  func lastAnswer() throws {
    let port = try ScenarioHarness.freePort()
    let server = harness.scenario("exec python3 -m http.server -b 127.0.0.1 \(port)")
    func answer(_ condition: Readiness.Condition) throws -> End.ReadinessAnswer? {
      let recording = try run(server, ready: condition, within: .seconds(2))
      guard case .timeout(.notReady(.seconds(2), let answer), nil)? = recording.end.cause else { return nil }
      return answer
    }
    #expect(try answer(.http("http://127.0.0.1:\(port)/none")) == .status(code: 404))
    #expect(try answer(.command(.shell("exit 1"))) == .command(status: .exited(code: 1)))
    guard case .noAnswer? = try answer(.http("http://127.0.0.1:1/")) else {
      Issue.record("a refused connection is not told")
      return
    }
  }

  @Test("A new file makes the target ready")
  func file() throws {
    expectReady(try run(harness.scenario("sleep 0.2; touch up; exec sleep 1000"), ready: .file(harness.path("up"))))
  }

  @Test("A command that finally succeeds makes the target ready")
  func command() throws {
    let check = Command.shell("echo try >> tries; test -e up")
    expectReady(try run(harness.scenario("sleep 0.4; touch up; exec sleep 1000"), ready: .command(check)))
    #expect(harness.text("tries").split(separator: "\n").count > 1)
  }

  @Test("A delay makes the target ready")
  func delay() throws {
    let recording = try run(harness.scenario("exec sleep 1000"), ready: .delay(.milliseconds(300)))
    expectReady(recording)
    #expect(recording.marks.allSatisfy { $0.time >= .milliseconds(300) })
  }

  @Test(
    "A target that is not ready in time is a timeout",
    arguments: [
      .tcp(host: "127.0.0.1", port: 1), .unix("/nowhere/socket"),
      .file("/nowhere/file"), .command(.shell("sleep 1000")), .delay(.seconds(1000)),
    ] as [Readiness.Condition]
  )
  func late(condition: Readiness.Condition) throws {
    let recording = try run(harness.scenario("echo up; exec sleep 1000"), ready: condition, within: .seconds(2))
    #expect(
      recording.end == End(.timeout, cause: .timeout(kind: .notReady(within: .seconds(2)), limitHits: nil)))
    #expect(recording.failure?.part == .init(.ready, text: condition.description(in: harness.scenario("x"))))
    #expect(recording.failure?.output == "up")
    #expect(recording.events == [])
  }

  @Test("A missing line is a timeout")
  func silent() throws {
    let condition = Readiness.Condition.log(try Pattern(parsing: "never"))
    let recording = try run(harness.scenario("echo up; exec sleep 1000"), ready: condition, within: .milliseconds(300))
    #expect(
      recording.end == End(.timeout, cause: .timeout(kind: .notReady(within: .milliseconds(300)), limitHits: nil)))
  }

  @Test("A target that ends early was never ready")
  func ended() throws {
    let never = try Pattern(parsing: "never")
    let recording = try run(harness.scenario("echo oops; exit 3"), ready: .log(never))
    #expect(recording.end == End(.exited, code: 3))
    #expect(recording.failure?.problem == .targetEnded(status: .exited(code: 3), isBefore: false))
    #expect(recording.failure?.output == "oops")
  }

  @Test("A line printed just before the end makes the target ready")
  func lastLine() throws {
    var scenario = harness.scenario("echo ready; exit 0")
    scenario.ready = Readiness(.log(try Pattern(parsing: "ready")))
    // The scheduler decides whether it ends before it is stopped.
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect([.exited, .stopped].contains(recording.end.kind))
  }

  @Test("A port, socket, URL or file that is in use before the start prevents the start")
  func inUse() throws {
    let other = ScenarioHarness()
    let port = try ScenarioHarness.freePort()
    let socket = other.path("socket")
    var server = other.python(
      """
      import socket, time, threading, http.server
      u = socket.socket(socket.AF_UNIX); u.bind('socket'); u.listen()
      s = http.server.HTTPServer(('127.0.0.1', \(port)), http.server.SimpleHTTPRequestHandler)
      print('up'); s.serve_forever()
      """)
    server.ready = Readiness(.log(try Pattern(parsing: "up")))
    let conditions: [(Readiness.Condition, Failure.Resource)] = [
      (.tcp(host: "127.0.0.1", port: port), .port(number: port)),
      (.unix(socket), .socket(path: socket)),
      (.http("http://u:p@127.0.0.1:\(port)/x"), .port(number: port)),
      (.file(socket), .file(path: socket)),
    ]
    let processTree = try ProcessTree(
      starting: LaunchRequest(
        words: server.target.command.words, environment: other.testProcesses.environment,
        workingDirectory: other.folder,
        output: 2))
    try #require(eventually { Connection.isAccepted(host: "127.0.0.1", port: port, within: .seconds(1)) })
    for (condition, resource) in conditions {
      let recording = try run(harness.scenario("touch started"), ready: condition)
      #expect(recording.end == End(.startFailed, cause: .startFailed(problem: .alreadyInUse(resource: resource))))
      #expect(recording.failure?.problem == .alreadyInUse(resource: resource))
    }
    #expect(!access(harness.path("started")))
    processTree.killAll()
  }

  private func access(_ path: String) -> Bool {
    SmallFile.bytes(at: path) != nil
  }
}
