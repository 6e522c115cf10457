import GateCore
import Testing

@testable import GateProbe

@Suite("Steps", .timeLimit(.minutes(60)))
struct StepTests {
  let harness = ScenarioHarness()
  private let sleeper = "trap 'exit 0' TERM; while :; do sleep 0.02; done"

  private func run(_ scenario: Scenario, _ steps: [Step.Action]) throws -> Recording {
    var scenario = scenario
    scenario.steps = steps.enumerated().map {
      Step($1, place: SourcePlace(file: "highwater.yml", line: 10 + $0, column: 9))
    }
    return try harness.run(scenario)
  }

  @Test("Phases and marks are recorded in order of time, with resident memory")
  func marks() throws {
    let recording = try run(
      harness.scenario(sleeper), [.phase("a"), .mark("b"), .wait(.milliseconds(100)), .phase("c")])
    #expect(recording.failure == nil)
    #expect(recording.events == [.phase("a"), .mark("b"), .phase("c")])
    let times = recording.marks.map(\.time)
    #expect(times == times.sorted())
    #expect(times[2] - times[1] >= .milliseconds(100))
    // Right after the exec, at the first mark, hardly a page is resident.
    #expect(recording.marks.compactMap(\.resident).count == 3)
    #expect(recording.marks[2].resident.map { $0 > .kibibytes(100) } == true)
    #expect(recording.end == End(.stopped, code: 0))
    #expect(recording.stopRequested.map { $0 >= times[2] } == true)
  }

  @Test("Each turn of a repeat is an iteration, unless it contains another repeat")
  func repeats() throws {
    let inner = Step(.repeat(times: 3, steps: [Step(.mark("i"))]))
    let recording = try run(harness.scenario(sleeper), [.repeat(times: 2, steps: [Step(.phase("o")), inner])])
    let turn: [Mark.Event] = [.phase("o")] + [.mark("i"), .iteration, .mark("i"), .iteration, .mark("i"), .iteration]
    #expect(recording.events == turn + turn)
  }

  @Test("A client runs in the scenario's root, with the target's environment except HIGHWATER_MARKS")
  func client() throws {
    var scenario = harness.scenario("cd /; \(sleeper)")
    scenario.target.environment["COLOUR"] = "green"
    let recording = try run(
      scenario, [.run(.init(command: .shell("echo $COLOUR ${HIGHWATER_MARKS-none} $PWD > seen")))])
    #expect(recording.failure == nil)
    #expect(harness.text("seen") == "green none \(harness.folder)\n")
  }

  @Test("The failure of a client has its step, place and last lines")
  func failingClient() throws {
    let recording = try run(
      harness.scenario(sleeper), [.mark("a"), .run(.init(command: .shell("echo why >&2; exit 3"))), .mark("b")])
    #expect(
      recording.failure
        == Failure(
          part: .init(.step, at: [.step(number: 2, of: 3)], text: "run: echo why >&2; exit 3"),
          problem: .commandEnded(status: .exited(code: 3), expected: [0]),
          place: SourcePlace(file: "highwater.yml", line: 11, column: 9), output: "why"))
    #expect(recording.end.kind == .stopped)
    #expect(recording.events == [.mark("a")])
  }

  @Test("A failure within a repeat names the turn")
  func failingTurn() throws {
    let client = Step.Client(command: .shell("echo x >> count; test $(wc -l < count) -lt 3"))
    let recording = try run(harness.scenario(sleeper), [.repeat(times: 5, steps: [Step(.run(client))])])
    #expect(
      recording.failure?.part?.path == [.step(number: 1, of: 1), .turn(number: 3, of: 5), .step(number: 1, of: 1)])
    #expect(recording.events == [.iteration, .iteration])
  }

  @Test("A client must exit with an expected code")
  func otherCode() throws {
    let recording = try run(harness.scenario(sleeper), [.run(.init(command: .shell("exit 4"), exits: [3, 4]))])
    #expect(recording.failure == nil)
    let wrong = try run(harness.scenario(sleeper), [.run(.init(command: .shell("exit 0"), exits: [3, 4]))])
    #expect(wrong.failure?.problem == .commandEnded(status: .exited(code: 0), expected: [3, 4]))
    let signaled = try run(harness.scenario(sleeper), [.run(.init(command: .shell("kill -TERM $$")))])
    #expect(
      signaled.failure?.problem == .commandEnded(status: .signaled(signal: .term, coreDumped: false), expected: [0]))
  }

  @Test("A client is killed with its children after its timeout")
  func lateClient() throws {
    let client = Step.Client(command: .shell("sleep 1000 & echo slow; sleep 1000"), within: .milliseconds(300))
    let recording = try run(harness.scenario(sleeper), [.run(client)])
    #expect(recording.failure?.problem == .commandTimeout(after: .milliseconds(300)))
    #expect(recording.failure?.output == "slow")
  }

  @Test("A missing client fails its step")
  func missingClient() throws {
    let recording = try run(harness.scenario(sleeper), [.run(.init(command: .arguments(["no-such-client"])))])
    guard case .launch(let error)? = recording.failure?.problem else {
      Issue.record("the failure is not a launch error")
      return
    }
    #expect(error.program == "no-such-client")
  }

  @Test("A client that prints a lot does not block, and its background processes run until the end")
  func loudClient() throws {
    let recording = try run(
      harness.scenario(sleeper),
      [
        .run(.init(command: .shell("head -c 3000000 /dev/zero; sleep 1000 & echo $! > child"))),
        .run(.init(command: .shell("kill -0 $(cat child)"))),
      ])
    #expect(recording.failure == nil)
  }

  @Test("HTTP requests are sent `times` times, with method, headers and body")
  func http() throws {
    let port = try ScenarioHarness.freePort()
    var scenario = harness.python(Self.httpServer(port: port))
    scenario.ready = Readiness(.tcp(host: "127.0.0.1", port: port))
    var call = Step.HTTPCall(url: "http://127.0.0.1:\(port)/201?q")
    (call.method, call.body, call.headers, call.times) = ("POST", "hello", ["X-A": "b"], 20)
    #expect(try run(scenario, [.http(call)]).failure == nil)
    let lines = harness.text("requests").split(separator: "\n")
    #expect(lines == Array(repeating: "POST /201?q b hello", count: 20))
  }

  @Test(
    "The status of the response decides",
    arguments: [
      (200, nil, true), (204, nil, true), (299, nil, true), (404, 404, true), (200, 404, false), (404, nil, false),
      (301, nil, false), (500, nil, false),
    ] as [(Int, Int?, Bool)]
  )
  func status(status: Int, expected: Int?, isAccepted: Bool) throws {
    let port = try ScenarioHarness.freePort()
    var scenario = harness.python(Self.httpServer(port: port))
    scenario.ready = Readiness(.tcp(host: "127.0.0.1", port: port))
    var call = Step.HTTPCall(url: "http://user:secret@127.0.0.1:\(port)/\(status)?token=1")
    call.expectedStatus = expected
    let failure = try run(scenario, [.http(call)]).failure
    let problem = Failure.Problem.http(
      url: "http://127.0.0.1:\(port)/\(status)", problem: .status(code: status, expected: expected), request: 1, of: 1)
    #expect(failure?.problem == (isAccepted ? nil : problem))
    #expect(failure.map { "\($0)".contains("secret") } != true)
  }

  @Test(
    "A server that does not respond fails the step; without `ready` it may not listen yet", arguments: [true, false])
  func noServer(hasReady: Bool) throws {
    let port = try ScenarioHarness.freePort()
    var scenario = harness.scenario(sleeper)
    if hasReady { scenario.ready = Readiness(.delay(.milliseconds(1))) }
    let recording = try run(scenario, [.http(.init(url: "http://127.0.0.1:\(port)/"))])
    #expect(recording.failure?.part?.text == "http: GET http://127.0.0.1:\(port)/")
    switch recording.failure?.problem {
    case .http("http://127.0.0.1:\(port)/", .noAnswer, 1, 1): #expect(hasReady)
    case .http("http://127.0.0.1:\(port)/", .notListening, 1, 1): #expect(!hasReady)
    default: Issue.record("the failure is not a missing response")
    }
  }

  @Test("Text is sent to the target, and its response awaited, step by step")
  func conversation() throws {
    var scenario = harness.python("while True: print('got', input())")
    scenario.target.input = .pipe
    let answer = try Pattern(parsing: "got a")
    let recording = try run(
      scenario,
      [
        .send("a\n"), .expectOutput(answer, within: .seconds(30)),
        .send("b\na\n"), .expectOutput(answer, within: .seconds(30)), .mark("end"),
      ])
    #expect(recording.failure == nil)
    #expect(recording.outputTail.hasPrefix("got a\ngot b\ngot a"))
  }

  @Test("Each `expect` needs new output")
  func expectTwice() throws {
    let once = try Pattern(parsing: "once")
    let recording = try run(
      harness.scenario("echo once; \(sleeper)"),
      [.expectOutput(once, within: .seconds(30)), .expectOutput(once, within: .milliseconds(200))])
    #expect(recording.failure?.part?.text == "expect: output `once` within 200 ms")
    #expect(recording.failure?.problem == .outputMissing(within: .milliseconds(200), onlyLatestSearched: false))
    #expect(recording.failure?.output == "once")
  }

  @Test("A text that is larger than the pipe is sent completely")
  func largeText() throws {
    var scenario = harness.python("import sys\nprint(len(sys.stdin.readline()))\nsys.stdin.read()")
    scenario.target.input = .pipe
    let recording = try run(
      scenario,
      [
        .send(String(repeating: "x", count: 1_000_000) + "\n"),
        .expectOutput(try Pattern(parsing: "^1000001$"), within: .seconds(30)),
      ])
    #expect(recording.failure == nil)
  }

  @Test("An unread text does not block forever")
  func unreadText() throws {
    var scenario = harness.scenario(sleeper)
    scenario.target.input = .pipe
    scenario.timeout = .milliseconds(500)
    let recording = try run(scenario, [.send(String(repeating: "x", count: 1_000_000))])
    #expect(recording.end.kind == .timeout)
    #expect(recording.failure?.part?.text?.hasPrefix("send: ") == true)
  }

  @Test("A target that has closed its input fails the step")
  func closedInput() throws {
    var scenario = harness.scenario("exec < /dev/null; echo closed; \(sleeper)")
    scenario.target.input = .pipe
    scenario.ready = Readiness(.log(try Pattern(parsing: "closed")))
    // A process that another test forks at this time inherits all open files until its exec.
    let steps = (0..<40).flatMap { _ in [Step.Action.send("a"), .wait(.milliseconds(250))] }
    #expect(try run(scenario, steps).failure?.problem == .stdinClosed)
  }

  @Test("A signal reaches the target")
  func signal() throws {
    let recording = try run(
      harness.scenario("trap 'echo hup' HUP; echo up; \(sleeper)"),
      [
        .expectOutput(try Pattern(parsing: "up"), within: .seconds(30)), .signal(.hup),
        .expectOutput(try Pattern(parsing: "hup"), within: .seconds(30)),
      ])
    #expect(recording.failure == nil)
  }

  @Test("A target that a step's signal terminates counts as stopped")
  func fatalSignal() throws {
    var scenario = harness.scenario("exec sleep 1000")
    scenario.until = .exit
    let recording = try run(scenario, [.signal(.kill)])
    #expect(recording.end == End(.stopped, signal: .kill))
    #expect(recording.failure == nil)
  }

  static func httpServer(port: Int) -> String {
    """
    import http.server
    class H(http.server.BaseHTTPRequestHandler):
      def do(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0)).decode()
        with open('requests', 'a') as f: print(self.command, self.path, self.headers.get('X-A'), body, file=f)
        self.send_response(int(self.path[1:4])); self.send_header('Content-Length', '0'); self.end_headers()
      do_GET = do_POST = do
    http.server.HTTPServer(('127.0.0.1', \(port)), H).serve_forever()
    """
  }
}

@Suite("Waiting until memory is steady", .timeLimit(.minutes(60)))
struct SettleStepTests {
  let harness = ScenarioHarness()

  private func run(_ program: String, within time: Duration) throws -> Recording {
    var scenario = harness.python(program)
    scenario.ready = Readiness(.log(try Pattern(parsing: "up")))
    scenario.steps = [Step(.settle(within: time)), Step(.mark("settled"))]
    return try harness.run(scenario)
  }

  @Test("The step waits for a growing target")
  func settles() throws {
    let recording = try run(
      """
      import time
      print('up'); blocks = []
      for _ in range(40): blocks.append(bytearray(1 << 20)); time.sleep(0.02)
      time.sleep(1000)
      """, within: .seconds(60))
    #expect(recording.failure == nil)
    let mark = try #require(recording.marks.first?.resident)
    #expect(mark > .mebibytes(40), "all memory was resident at the end of the step")
    #expect(recording.marks.first.map { $0.time > .milliseconds(1800) } == true)
  }

  @Test("A target that keeps growing fails the step, with the amount")
  func grows() throws {
    let recording = try run(
      """
      import time
      print('up'); blocks = []
      while True: blocks.append(bytearray(100000)); time.sleep(0.01)
      """, within: .seconds(2))
    guard case .notSettled(.seconds(2), let moved)? = recording.failure?.problem else {
      Issue.record("the failure is not notSettled")
      return
    }
    #expect(moved > .mebibytes(1))
  }

  @Test("A time limit that is too short for the rule fails the step")
  func tooShort() throws {
    let recording = try run("print('up'); import time; time.sleep(1000)", within: .milliseconds(300))
    #expect(recording.failure?.problem == .tooFewSamples(within: .milliseconds(300)))
  }
}
