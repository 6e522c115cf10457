import GateCore
import Testing

@testable import GateProbe

@Suite("Servers and daemons", .timeLimit(.minutes(60)))
struct ServerTests {
  let harness = ScenarioHarness()

  @Test("Redis is filled by its client in phases, and stopped", .enabled(if: Tool.exists("redis-server")))
  func redis() throws {
    let port = "\(try ScenarioHarness.freePort())"
    var scenario = harness.scenario(.arguments(["redis-server", "--port", port, "--save", "", "--appendonly", "no"]))
    scenario.ready = Readiness(.log(try Pattern(parsing: "Ready to accept connections")))
    let fill = "eval \"for i=1,20000 do redis.call('set', 'key:'..i, string.rep('x', 100)) end return 'done'\""
    let client = { (line: String) in Step(.run(.init(command: .shell("redis-cli -p \(port) \(line)")))) }
    scenario.steps = [
      Step(.phase("load")), client("\(fill) 0 | grep done"),
      Step(.phase("use")), Step(.repeat(times: 5, steps: [client("get key:7")])), client("ping | grep PONG"),
    ]
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect(recording.end == End(.stopped, code: 0))
    #expect(recording.events == [.phase("load"), .phase("use")] + Array(repeating: .iteration, count: 5))
    let resident = recording.marks.compactMap { $0.resident?.count }
    #expect(resident.count == 7)
    #expect(resident[1] > resident[0] + 1_000_000, "20 000 keys take memory")
  }

  @Test("A server that the last step shuts down has ended by itself", .enabled(if: Tool.exists("redis-server")))
  func shutdown() throws {
    let socket = harness.path("redis.sock")
    var scenario = harness.scenario(.arguments(["redis-server", "--port", "0", "--unixsocket", socket, "--save", ""]))
    scenario.ready = Readiness(.unix(socket))
    scenario.steps = [Step(.run(.init(command: .arguments(["redis-cli", "-s", socket, "shutdown", "nosave"]))))]
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect(recording.end.code == 0)
  }

  @Test(
    "A daemon is measured and stopped with its workers, by its pidfile and without a rule",
    .enabled(if: Tool.exists("nginx")), arguments: [true, false]
  )
  func nginx(hasRule: Bool) throws {
    let port = try ScenarioHarness.freePort()
    let settings = harness.testProcesses.file(
      "nginx.conf",
      """
      daemon on; worker_processes 2; pid \(harness.path("nginx.pid")); error_log \(harness.path("error.log"));
      events {}
      http { access_log off; server { listen 127.0.0.1:\(port); location / { return 200 hello; } } }
      """)
    var scenario = harness.scenario(
      .arguments(["nginx", "-p", harness.folder, "-c", settings, "-e", harness.path("e.log")]))
    if hasRule { scenario.target.main = .pidfile(harness.path("nginx.pid")) }
    scenario.ready = Readiness(.http("http://127.0.0.1:\(port)/"))
    var call = Step.HTTPCall(url: "http://127.0.0.1:\(port)/")
    call.times = 50
    scenario.steps = [Step(.http(call))]
    scenario.stop.signal = Signal(number: 3)
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil, "\(recording.outputTail)")
    #expect(recording.end == End(.stopped, code: 0))
    #expect(recording.notes == [])
  }

  @Test("The end of a daemon counts, even with a stale pidfile")
  func daemonEnds() throws {
    var scenario = harness.scenario("(setsid sh -c 'echo $$ > d.pid; sleep 0.5; exit 6' &); exit 0")
    scenario.target.main = .pidfile(harness.path("d.pid"))
    scenario.until = .exit
    scenario.setup = [.shell("echo 1 > d.pid")]
    let recording = try harness.run(scenario)
    #expect(recording.end == End(.exited, code: 6))
    #expect(recording.failure == nil)
  }

  @Test("The end of a daemon counts without a rule, if steps follow")
  func unnamedDaemonEnds() throws {
    var scenario = harness.scenario("(setsid sh -c 'sleep 0.3; exit 6' &); exit 0")
    scenario.steps = [Step(.wait(.seconds(20)))]
    let recording = try harness.run(scenario)
    #expect(recording.end == End(.exited, code: 6))
  }

  @Test("A launcher that is still alive after the steps leaves a daemon behind, which is stopped like any target")
  func slowLauncher() throws {
    var scenario = harness.scenario(
      """
      (setsid sh -c 'trap "exit 0" TERM; touch up; while :; do sleep 0.05; done' &)
      trap "" TERM; while [ ! -e up ]; do sleep 0.05; done; touch launched; sleep 1; exit 0
      """)
    scenario.ready = Readiness(.file(harness.path("launched")))
    scenario.steps = [Step(.mark("a"))]
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect(recording.end == End(.stopped, code: 0))
    #expect(recording.notes == [])
  }

  @Test(
    "A target that has its programs run outside of its tree is noted, unless it is not the main process",
    arguments: [
      (Command.arguments(["./docker", "0.2"]), ["docker"]),
      (.shell("./docker 0.2 & exec python3 -c 'import time; time.sleep(0.4)'"), []),
    ])
  func runsElsewhere(command: Command, clients: [String]) throws {
    var scenario = harness.scenario(command)
    scenario.setup = [.shell("cp /bin/sleep docker")]
    scenario.until = .exit
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    let noted = recording.notes.compactMap { if case .runsElsewhere(let command) = $0 { command } else { nil } }
    #expect(noted == clients)
  }

  @Test("Behind a build tool the largest process is judged that is neither a build tool nor a compiler")
  func buildTool() throws {
    func python(_ name: String, holding mebibytes: Int) -> String {
      "./\(name) -c 'import time; b = bytearray(b\"x\" * (\(mebibytes) << 20)); time.sleep(0.1)'; "
    }
    let script = python("cc1", holding: 60) + python("app", holding: 20) + "true"
    var scenario = harness.scenario(.arguments(["./make", "-c", script]))
    let interpreter = "python3 -c 'import sys; print(sys.executable)'"
    scenario.setup = [.shell("ln -s /bin/sh make; for name in cc1 app; do ln -s $(\(interpreter)) $name; done")]
    scenario.until = .exit
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect(recording.processes.first(where: \.isMain)?.command == "app")
    #expect(recording.notes.contains(.behindTool(tool: "make", program: "app")))
    let peak = try #require(recording.result().metrics[.peakRSS])
    // With a copy of the bytes; `cc1` has three times as much.
    #expect((20.0..<100).contains(peak / 1_048_576), "\(peak)")
  }

  @Test("A missing pidfile fails the start")
  func noPidfile() throws {
    var scenario = harness.scenario("(setsid sleep 1000 &); exit 0")
    scenario.target.main = .pidfile(harness.path("d.pid"))
    scenario.ready = Readiness(.delay(.milliseconds(10)), within: .milliseconds(500))
    let recording = try harness.run(scenario)
    let timeout = End.Timeout.noMainProcess(rule: .pidfile(path: harness.path("d.pid")), within: .milliseconds(500))
    #expect(recording.failure?.problem == .timeout(kind: timeout))
    #expect(recording.end.kind == .timeout)
  }

  @Test("A launcher that exits without a daemon fails the start")
  func noDaemon() throws {
    var scenario = harness.scenario("exit 0")
    scenario.target.main = .pidfile(harness.path("d.pid"))
    #expect(try harness.run(scenario).failure?.problem == .noMainProcess(rule: .pidfile(path: harness.path("d.pid"))))
  }

  @Test("Without a tracer, the end of a wrapper that waits for the main process counts as its end")
  func wrapperEnds() throws {
    var scenario = harness.scenario("sleep 1; exit 4")
    scenario.target.main = .name(try Pattern(parsing: "^sleep"))
    scenario.isolation.tracer = .off
    let recording = try harness.run(scenario)
    #expect(recording.end == End(.exited, code: 4))
    #expect(recording.failure == nil)
  }

  @Test(
    "With a tracer, the main process's own end counts, even if a wrapper waits for it",
    .enabled(if: LinuxCalls.canTrace, "requires ptrace(2)")
  )
  func tracedMainEnds() throws {
    var scenario = harness.scenario("sleep 1; exit 4")
    scenario.target.main = .name(try Pattern(parsing: "^sleep"))
    let recording = try harness.run(scenario)
    #expect(recording.end == End(.exited, code: 0))
  }

  @Test(
    "With a tracer, a main process of a millisecond is found by its name",
    .enabled(if: LinuxCalls.canTrace, "requires ptrace(2)")
  )
  func briefMain() throws {
    var scenario = harness.scenario("cp /bin/true brief; ./brief; sleep 0.3; exit 4")
    scenario.target.main = .name(try Pattern(parsing: "^brief$"))
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil && recording.end == End(.exited, code: 0))
    #expect(recording.processes.first { $0.isMain }?.isExact == true)
  }

  @Test("The end of a failing launcher counts", arguments: [1, 3])
  func launcherFails(code: Int) throws {
    var scenario = harness.scenario("echo no; exit \(code)")
    scenario.target.main = .pidfile(harness.path("d.pid"))
    scenario.ready = Readiness(.file(harness.path("up")))
    let recording = try harness.run(scenario)
    #expect(recording.end == End(.exited, code: code))
    #expect(recording.failure?.problem == .targetEnded(status: .exited(code: code), isBefore: false))
  }

  @Test("The main process of a wrapper is found by its name and stopped")
  func wrapper() throws {
    var scenario = harness.scenario("sleep 1000; exit 0")
    scenario.target.main = .name(try Pattern(parsing: "^sleep"))
    scenario.ready = Readiness(.delay(.milliseconds(1)))
    scenario.steps = [Step(.mark("a"))]
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect(recording.end.kind == .stopped)
  }
}

/// Optional programs.
enum Tool {
  static func exists(_ name: String) -> Bool {
    let environment = ["PATH": TargetEnvironment.standardPath]
    let request = LaunchRequest(words: [name], environment: environment, workingDirectory: "/", output: 1)
    return (try? ProgramSearch.path(of: request)) != nil
  }
}
