import Foundation
import Testing

@Suite("An interrupted run stops its targets, runs the teardown and changes no file", .endsHangs)
struct InterruptTests {
  /// A part of a repetition that creates the file `at`, then lasts until it is interrupted or the file `go` exists.
  struct Stage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let scenario: String
  }

  static let stages = [
    Stage(testDescription: "the setup", scenario: "target: {command: [\"true\"]}\nsetup: [touch at; sleep 1000]"),
    Stage(
      testDescription: "the start, before the main process is known",
      scenario: "target: {shell: touch at; sleep 1000, main: {pidfile: never.pid}}"
    ),
    Stage(
      testDescription: "getting ready",
      scenario: "target: {shell: touch at; sleep 1000}\nready: {file: never, within: 1000s}"
    ),
    Stage(
      testDescription: "a step that runs a client",
      scenario: "target: {command: [sleep, 1000]}\nsteps: [{run: touch at; sleep 1000}]"
    ),
    Stage(
      testDescription: "a step that waits",
      scenario: "target: {shell: touch at; sleep 1000}\nready: {file: at}\nsteps: [{wait: 1000s}]"
    ),
    Stage(
      testDescription: "waiting for the target and its children to end",
      scenario: "target: {shell: (setsid sleep 1000 &); sleep 1000 & touch at; wait}"
    ),
    Stage(
      testDescription: "stopping a target that ignores SIGTERM",
      scenario: """
        target: {shell: "trap 'touch at' TERM; touch up; while :; do sleep 0.1; done"}
        setup: [rm -f up]
        ready: {file: up}
        stop: {within: 1000s}
        """
    ),
    Stage(
      testDescription: "the teardown",
      scenario:
        "target: {command: [\"true\"]}\nteardown: ['touch at; while [ ! -e go ]; do sleep 0.02; done; touch torn']"
    ),
  ]

  static let signals: [(number: Int32, code: Int32)] = [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 143)]

  @Test(
    "After a signal at any stage the teardown has run, and no process and no changed file is left",
    arguments: zip(stages, stages.indices.map { signals[$0 % signals.count] })
  )
  func interrupt(stage: Stage, by signal: (number: Int32, code: Int32)) throws {
    let harness = try ScenarioHarness("target: {command: [sleep, \"0.2\"]}")
    try harness.approve()
    let before = try harness.keptFiles()
    try harness.write(
      stage.scenario.contains("teardown:") ? stage.scenario : stage.scenario + "\nteardown: [touch torn]")
    let running = try harness.start("check")
    try harness.wait(for: "at", in: running)
    #expect(try harness.project.survivors().count >= 3, "Highwater, a supervisor and a process below it run")
    running.sendAndAwaitDelivery(signal.number)
    try harness.project.write("", to: "go")
    let outcome = try running.wait()
    #expect(outcome.code == signal.code)
    #expect(outcome.output == "", "an interrupted run has no summary")
    #expect(outcome.errors.contains("interrupted"), "\(outcome.errors)")
    #expect(harness.has("torn"))
    try harness.expectNothingLeft()
    #expect(try harness.keptFiles() == before)
  }

  @Test("A signal at a random moment during or between short repetitions exits with 130", arguments: 1...10)
  func anyInstant(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    let harness = try ScenarioHarness("target: {command: [sleep, \"0.2\"]}")
    try harness.approve()
    let before = try harness.keptFiles()
    try harness.write("setup: [touch at]\ntarget: {command: [sleep, \"0.005\"]}\nteardown: [rm at]", repetitions: 1000)
    let running = try harness.start("check")
    try harness.wait(for: "at", in: running)
    usleep(.random(in: 0..<300_000, using: &random))
    running.send(SIGINT)
    #expect(try running.wait().code == 130)
    #expect(!harness.has("at"), "the teardown was not run")
    try harness.expectNothingLeft()
    #expect(try harness.keptFiles() == before)
  }

  @Test(
    "A signal that arrives twice, as from timeout and sudo, is one request: the teardown runs",
    arguments: [0, 1, 20, 200, 1000, 20_000, 100_000] as [UInt32], [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)]
  )
  func relayed(after microseconds: UInt32, signal: (number: Int32, code: Int32)) throws {
    let harness = try ScenarioHarness("target: {shell: touch at; sleep 1000}\nteardown: [touch torn]")
    let running = try harness.start("check")
    try harness.wait(for: "at", in: running)
    running.send(signal.number)
    usleep(microseconds)
    running.send(signal.number)
    let outcome = try running.wait()
    #expect(outcome.code == signal.code)
    #expect(outcome.errors.contains("interrupted"), "\(outcome.errors)")
    #expect(harness.has("torn"))
    try harness.expectNothingLeft()
  }

  @Test("A signal that is ignored at the start stays ignored, as with nohup", arguments: ["INT", "TERM", "HUP"])
  func ignored(signal: String) throws {
    var harness = try ScenarioHarness("target: {shell: \"touch at; while [ ! -e go ]; do sleep 0.02; done\"}")
    harness.launcher = ["/bin/sh", "-c", "trap '' \(signal); exec \"$@\"", "sh"]
    let running = try harness.start("check", "--allow-missing-baseline")
    try harness.wait(for: "at", in: running)
    running.send(["INT": SIGINT, "TERM": SIGTERM, "HUP": SIGHUP][signal] ?? 0)
    usleep(100_000)
    try harness.project.write("", to: "go")
    #expect(try running.wait().code == 0)
  }

  @Test("A second SIGINT a second later ends the run at once, without the teardown, and leaves no process")
  func twice() throws {
    let harness = try ScenarioHarness("target: {command: [sleep, \"0.2\"]}")
    try harness.approve()
    let before = try harness.keptFiles()
    try harness.write(
      """
      target: {shell: "trap 'touch asked' TERM; (setsid sleep 1000 &); touch at; while :; do sleep 0.1; done"}
      teardown: [touch torn]
      """
    )
    let running = try harness.start("check")
    try harness.wait(for: "at", in: running)
    running.send(SIGINT)
    try harness.wait(for: "asked", in: running)
    sleep(1)
    running.send(SIGINT)
    #expect(try running.wait().code == 130)
    #expect(!harness.has("torn"))
    _ = try harness.secondsUntilGone(atMost: 20)
    #expect(try harness.project.survivors() == [])
    #expect(try harness.keptFiles() == before)
  }

  @Test(
    "An interrupted `record` stops the command, prints what was measured, and leaves no process and no file",
    arguments: ["sleep 1000", "trap 'exit 0' TERM; sleep 1000 & wait", "trap 'exit 143' TERM; sleep 1000 & wait"],
    [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func record(script: String, by signal: (number: Int32, code: Int32)) throws {
    let harness = try ScenarioHarness()
    let running = try harness.start("record", "--", "sh", "-c", "(setsid sleep 1000 &); touch at; \(script)")
    try harness.wait(for: "at", in: running)
    usleep(300_000)
    running.send(signal.number)
    let outcome = try running.wait()
    #expect(outcome.code == signal.code)
    #expect(outcome.errors.contains("interrupted: the command was stopped"), "\(outcome.errors)")
    #expect(outcome.text.contains("stopped (") && outcome.text.contains("peak"), "\(outcome.output)")
    #expect(!outcome.text.contains("unexpected"), "\(outcome.output)")
    try harness.expectNothingLeft()
  }

  @Test("A target that exits with 143 after SIGTERM, as the JVM does, was stopped")
  func exitCodeOfSignal() throws {
    let harness = try ScenarioHarness(
      "target: {shell: \"trap 'exit 143' TERM; touch up; sleep 1000 & wait\"}\nready: {file: up}\nsteps: [{wait: 10ms}]"
    )
    #expect(try harness.check().code == 0)
    #expect(try harness.end() == "stopped 143")
  }
}
