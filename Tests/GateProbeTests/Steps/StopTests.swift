import GateCore
import Testing

@testable import GateProbe

@Suite("Stopping a target", .timeLimit(.minutes(60)))
struct StopTests {
  let harness = ScenarioHarness()

  private func stopped(_ scenario: Scenario) throws -> Recording {
    var scenario = scenario
    scenario.ready = Readiness(.log(try Pattern(parsing: "up")))
    return try harness.run(scenario)
  }

  @Test("Termination by the stop signal is accepted")
  func term() throws {
    let scenario = harness.scenario("echo up; exec sleep 1000")
    let recording = try stopped(scenario)
    #expect(recording.end == End(.stopped, signal: .term))
    #expect(recording.failure == nil)
    #expect(recording.notes == [])
    #expect(recording.stopRequested != nil)
    #expect(scenario.accepts(recording.end))
  }

  @Test("The stop signal is configurable, and the exit code is kept")
  func other() throws {
    var scenario = harness.scenario("trap 'exit 7' INT; echo up; while :; do sleep 0.02; done")
    scenario.stop.signal = .int
    let recording = try stopped(scenario)
    #expect(recording.end == End(.stopped, code: 7))
    #expect(!scenario.accepts(recording.end))
  }

  @Test("A target that ignores the signal is killed, with a note")
  func ignoring() throws {
    var scenario = harness.scenario("trap '' TERM; echo up; exec sleep 1000")
    scenario.stop.within = .milliseconds(300)
    let recording = try stopped(scenario)
    #expect(recording.end == End(.stopped, signal: .kill))
    #expect(recording.notes == [.killedAfterStop(signal: .term, grace: .milliseconds(300))])
    #expect(recording.failure == nil)
  }

  @Test("A crash in the handler of the stop signal is a crash")
  func crashing() throws {
    let recording = try stopped(
      harness.scenario("ulimit -c 0; trap 'kill -SEGV $$' TERM; echo up; while :; do sleep 0.02; done"))
    #expect(recording.end == End(.crash, signal: .segv))
  }

  @Test("Children that outlive the target are killed, and named in a note")
  func survivors() throws {
    let recording = try harness.run(harness.scenario("sleep 1000 & (setsid sleep 1001 &) ; exit 0"))
    #expect(recording.end == End(.exited, code: 0))
    #expect(recording.notes == [.survivors(count: 2, first: ["sleep", "sleep"])])
  }

  @Test("A child that ends shortly after the target causes no note")
  func shortlyAfter() throws {
    #expect(try harness.run(harness.scenario("sleep 0.02 & exit 0")).notes == [])
  }

  @Test("A target that ends before the last step fails the current step", arguments: ["mark", "run", "phase"])
  func endsEarly(kind: String) throws {
    var scenario = harness.scenario("while [ ! -e go ]; do sleep 0.01; done; echo bye; exit 0")
    let second: Step.Action =
      switch kind {
      case "mark": .mark("b")
      case "phase": .phase("b")
      default: .run(.init(command: .shell("true")))
      }
    scenario.steps = [Step(.run(.init(command: .shell("touch go; exec sleep 1000")))), Step(second)]
    let recording = try harness.run(scenario)
    #expect(recording.end == End(.exited, code: 0))
    #expect(recording.failure?.problem == .targetEnded(status: .exited(code: 0), isBefore: false))
    #expect(recording.failure?.output == "bye")
  }

  @Test("A target that ended before a step fails that step")
  func goneBefore() throws {
    var scenario = harness.scenario("exit 5")
    scenario.ready = Readiness(.delay(.milliseconds(1)))
    scenario.steps = [
      Step(.repeat(times: 1_000_000, steps: [Step(.mark("x"))])), Step(.mark("b")),
    ]
    let recording = try harness.run(scenario)
    let problems: [Failure.Problem] = [true, false].map { .targetEnded(status: .exited(code: 5), isBefore: $0) }
    #expect(problems.contains(try #require(recording.failure?.problem)))
    #expect(recording.end == End(.exited, code: 5))
  }

  @Test("A target that exits during the last step has ended by itself", arguments: [Ending.steps, .exit])
  func lastStep(ending: Ending) throws {
    var scenario = harness.scenario("echo $$ > pid; trap 'exit 0' USR1; echo up; while :; do sleep 0.02; done")
    scenario.ready = Readiness(.log(try Pattern(parsing: "up")))
    scenario.steps = [Step(.run(.init(command: .shell("kill -USR1 $(cat pid); sleep 0.3; echo done > done"))))]
    scenario.until = ending
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect(recording.end == End(.exited, code: 0))
    #expect(recording.stopRequested == nil)
    #expect(harness.text("done") == "done\n", "the client could finish")
  }

  @Test("`until: exit` closes the target's input after the steps, and waits for its end")
  func untilExit() throws {
    var scenario = harness.scenario("cat; echo end")
    scenario.target.input = .pipe
    scenario.steps = [Step(.send("hello\n")), Step(.mark("sent"))]
    scenario.until = .exit
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect(recording.end == End(.exited, code: 0))
    #expect(recording.outputTail == "hello\nend")
  }

  @Test("`until: exit` skips steps that do not need the target after its end, with a note")
  func untilExitEarly() throws {
    var scenario = harness.scenario("exit 0")
    scenario.until = .exit
    scenario.steps = [
      Step(.wait(.seconds(20))), Step(.mark("a")), Step(.repeat(times: 1_000_000, steps: [Step(.mark("b"))])),
    ]
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil)
    #expect(recording.notes == [.stepsSkipped(from: .init(.step, at: [.step(number: 1, of: 3)], text: "wait: 20 s"))])
    scenario.steps.append(Step(.run(.init(command: .shell("true")))))
    #expect(try harness.run(scenario).failure?.part == .init(.step, at: [.step(number: 4, of: 4)], text: "run: true"))
  }

  @Test("Standard input is empty, a file, or a text of any length")
  func input() throws {
    var scenario = harness.scenario("wc -c")
    #expect(try harness.run(scenario).outputTail.contains("0"))
    scenario.target.input = .text(String(repeating: "x", count: 300_000))
    #expect(try harness.run(scenario).outputTail.contains("300000"))
    let file = harness.testProcesses.file("input", "12345")
    scenario.target.input = .file(file)
    #expect(try harness.run(scenario).outputTail.contains("5"))
    scenario.target.command = .shell("exec <&-; sleep 0.1")
    scenario.target.input = .text(String(repeating: "x", count: 300_000))
    #expect(try harness.run(scenario).end == End(.exited, code: 0))
  }

  @Test("The output is copied to a file, and its tail is kept")
  func output() throws {
    let recording = try harness.run(
      harness.scenario("seq 1 100000; echo err >&2; printf '\\033[31mred'"), output: harness.path("out.log"))
    #expect(harness.text("out.log").utf8.count == 588_895 + 4 + 8)
    #expect(recording.outputTail.hasSuffix("100000\nerr\n\\u{1b}[31mred"))
    #expect(recording.notes == [])
  }

  @Test("Excessive output is cut in the file, and the target continues")
  func flood() throws {
    let recording = try harness.run(
      harness.scenario("head -c 40000000 /dev/zero | tr '\\0' x; echo; echo end"), output: harness.path("out.log"))
    #expect(recording.outputTail.hasSuffix("…\nend"))
    let text = harness.text("out.log")
    #expect(text.utf8.count == (16 << 20) + "\n… output cut here …\n".utf8.count)
  }

  @Test("An unwritable output file causes a note")
  func noOutputFile() throws {
    let recording = try harness.run(harness.scenario("echo a"), output: harness.path("none/out.log"))
    #expect(recording.end == End(.exited, code: 0))
    #expect(
      recording.notes == [.outputNotStored(failure: SystemFailure(.open, path: harness.path("none/out.log"), code: 2))])
  }
}
