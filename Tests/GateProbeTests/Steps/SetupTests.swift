import GateCore
import Glibc
import LinuxSystem
import Testing

@testable import GateProbe

@Suite("Setup, teardown and interruption", .timeLimit(.minutes(60)))
struct SetupTests {
  let harness = ScenarioHarness()

  private func scenario(_ line: String) -> Scenario {
    var scenario = harness.scenario(line)
    scenario.setup = [.shell("echo setup >> log")]
    scenario.teardown = [.shell("echo teardown >> log")]
    return scenario
  }

  private var log: [Substring] { harness.text("log").split(separator: "\n") }

  @Test("Setup runs before the target, teardown after it")
  func order() throws {
    let recording = try harness.run(scenario("echo target >> log"))
    #expect(log == ["setup", "target", "teardown"])
    #expect(recording.failure == nil)
  }

  @Test("After a failing setup, the target does not start, and teardown runs")
  func failingSetup() throws {
    var scenario = scenario("echo target >> log")
    scenario.setup.append(.shell("echo because; exit 2"))
    scenario.setup.append(.shell("echo never >> log"))
    let recording = try harness.run(scenario)
    #expect(recording.end == End(.startFailed, cause: .setupFailed))
    #expect(recording.failure?.part == .init(.setup, text: "echo because; exit 2"))
    #expect(recording.failure?.problem == .commandEnded(status: .exited(code: 2), expected: [0]))
    #expect(recording.failure?.output == "because")
    #expect(log == ["setup", "teardown"])
  }

  @Test("A command whose supervisor is killed ends at once, as killed", arguments: ["setup", "step", "teardown"])
  func killedSupervisor(place: String) throws {
    var scenario = scenario("exec sleep 1000")
    // Killed before it has told of the start, it could not start the command.
    let command = Command.shell("sleep 0.5; echo $PPID > supervisor; exec sleep 1000")
    switch place {
    case "setup": scenario.setup = [command]
    case "step": scenario.steps = [Step(.run(.init(command: command)))]
    default: (scenario.teardown, scenario.steps) = ([command], [Step(.wait(.zero))])
    }
    let harness = harness
    let thread = try PosixThread(named: "hw-test") {
      _ = eventually { harness.text("supervisor").hasSuffix("\n") }
      if let pid = Int32(harness.text("supervisor").dropLast()), pid > 1 { kill(pid, SIGKILL) }
    }
    let recording = try harness.run(scenario)
    thread.join()
    let killed = EndEvidence.Status.signaled(signal: .kill, coreDumped: false)
    #expect(recording.failure?.problem == .commandEnded(status: killed, expected: [0]))
  }

  @Test("A setup command is killed after the timeout")
  func lateSetup() throws {
    var scenario = scenario("true")
    scenario.setup = [.shell("sleep 1000")]
    scenario.timeout = .milliseconds(300)
    let recording = try harness.run(scenario)
    #expect(recording.failure?.problem == .commandTimeout(after: .milliseconds(300)))
  }

  @Test("A daemon of the setup runs until the end of the teardown")
  func daemon() throws {
    var scenario = harness.scenario("kill -0 $(cat pid)")
    scenario.setup = [.shell("setsid sleep 1000 & echo $! > pid")]
    scenario.teardown = [.shell("kill -0 $(cat pid)")]
    let recording = try harness.run(scenario)
    #expect(recording.end == End(.exited, code: 0))
    #expect(recording.failure == nil)
  }

  @Test("A failing teardown is reported if nothing else failed, and its other commands run")
  func failingTeardown() throws {
    var scenario = scenario("exit 0")
    scenario.teardown.insert(.shell("exit 9"), at: 0)
    let recording = try harness.run(scenario)
    #expect(recording.failure?.part == .init(.teardown, text: "exit 9"))
    #expect(recording.end == End(.exited, code: 0))
    #expect(log == ["setup", "teardown"])
    scenario.steps = [Step(.run(.init(command: .shell("exit 1"))))]
    scenario.target.command = .shell("exec sleep 1000")
    #expect(try harness.run(scenario).failure?.part == .init(.step, at: [.step(number: 1, of: 1)], text: "run: exit 1"))
  }

  @Test("Teardown runs after a timeout and after a failed start", arguments: ["sleep 1000", "cd /nowhere"])
  func always(line: String) throws {
    var scenario = scenario(line)
    scenario.timeout = .milliseconds(400)
    if line.hasPrefix("cd") { scenario.target.command = .arguments(["no-such-program"]) }
    _ = try harness.run(scenario)
    #expect(log == ["setup", "teardown"])
  }

  @Test(
    "An interruption at any point stops everything, and runs the teardown",
    arguments: ["setup", "ready", "step", "http", "client", "end", "stubborn", "teardown"]
  )
  func interrupted(place: String) throws {
    var scenario = scenario("echo up > up; exec sleep 1000")
    scenario.stop.within = .seconds(100)
    scenario.steps = [Step(.wait(.seconds(1000)))]
    let server = try Server()
    switch place {
    case "setup": scenario.setup.append(.shell("echo up > up; sleep 1000"))
    case "ready": scenario.ready = Readiness(.file(harness.path("never")))
    case "http": scenario.steps = [Step(.http(.init(url: "http://127.0.0.1:\(server.port)/")))]
    case "client": scenario.steps = [Step(.run(.init(command: .shell("sleep 1000 & sleep 1000"))))]
    case "teardown":
      scenario.steps = []
      scenario.target.command = .shell("exit 0")
      scenario.teardown.append(.shell("echo up > up; sleep 1000"))
    case "end": (scenario.steps, scenario.until) = ([], .exit)
    case "stubborn": scenario.target.command = .shell("trap '' TERM; echo up > up; while :; do sleep 0.02; done")
    default: break
    }
    let harness = harness
    let thread = try PosixThread(named: "hw-test") {
      _ = eventually { harness.text("up") == "up\n" }
      usleep(100_000)
      harness.interruption.request(by: SIGINT)
    }
    #expect(harness.measure(scenario) == nil)
    thread.join()
    #expect(log == ["setup", "teardown"])
  }

  @Test("After an interruption before the start, the target does not start")
  func interruptedBefore() {
    harness.interruption.request(by: SIGTERM)
    #expect(harness.measure(scenario("echo target >> log")) == nil)
    #expect(log == ["setup", "teardown"] || log == ["teardown"])
  }

  /// A port that accepts connections but never responds.
  private final class Server {
    let port: Int
    private let number: Int32

    init() throws {
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      listen(socket, 5)
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
      }
      number = socket
      port = Int(UInt16(bigEndian: address.sin_port))
      try #require(result == 0)
    }

    deinit { close(number) }
  }
}
