import Foundation
import Testing

@Suite("An interrupted run stops its targets, tears down, and changes nothing", .timeLimit(.minutes(10)))
struct InterruptTests {
  /// A part of a repetition that lasts until it is interrupted, and has made the file `at` by then.
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
      testDescription: "waiting for the target's end, with its children",
      scenario: "target: {shell: (setsid sleep 1000 &); sleep 1000 & touch at; wait}"
    ),
    Stage(
      testDescription: "the stop of a target that ignores it",
      scenario: """
        target: {shell: "trap 'touch at' TERM; touch up; while :; do sleep 0.1; done"}
        setup: [rm -f up]
        ready: {file: up}
        stop: {within: 1000s}
        """
    ),
    Stage(
      testDescription: "the teardown",
      scenario: "target: {command: [\"true\"]}\nteardown: [touch at; sleep 0.3; touch torn]"
    ),
  ]

  @Test(
    "A signal at any stage: its exit code, the teardown was run, nothing is left, nothing is changed",
    arguments: stages, [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 143)] as [(Int32, Int32)]
  )
  func interrupt(stage: Stage, by signal: (number: Int32, code: Int32)) throws {
    let scene = try Scene("target: {command: [sleep, \"0.2\"]}")
    try scene.approve()
    let before = try scene.keptFiles()
    try scene.write(stage.scenario.contains("teardown:") ? stage.scenario : stage.scenario + "\nteardown: [touch torn]")
    let running = try scene.start("check")
    try scene.wait(for: "at", in: running)
    #expect(try scene.project.survivors().count >= 3, "the runner, a shepherd and what it keeps are to be seen")
    running.send(signal.number)
    let outcome = try running.wait()
    #expect(outcome.code == signal.code)
    #expect(outcome.output == "", "an interrupted run has no summary")
    #expect(outcome.errors.contains("interrupted"), "\(outcome.errors)")
    #expect(scene.has("torn"))
    #expect(try scene.leftovers() == [])
    #expect(try scene.keptFiles() == before)
  }

  @Test("A signal at any instant of many short repetitions, between them too", arguments: 1...10)
  func anyInstant(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    let scene = try Scene("target: {command: [sleep, \"0.2\"]}")
    try scene.approve()
    let before = try scene.keptFiles()
    try scene.write("setup: [touch at]\ntarget: {command: [sleep, \"0.005\"]}\nteardown: [rm at]", repetitions: 1000)
    let running = try scene.start("check")
    try scene.wait(for: "at", in: running)
    usleep(.random(in: 0..<300_000, using: &random))
    running.send(SIGINT)
    #expect(try running.wait().code == 130)
    #expect(!scene.has("at"), "the teardown was not run")
    #expect(try scene.leftovers() == [])
    #expect(try scene.keptFiles() == before)
  }

  @Test("A second SIGINT ends the run at once, without its teardown, and still nothing is left")
  func twice() throws {
    let scene = try Scene("target: {command: [sleep, \"0.2\"]}")
    try scene.approve()
    let before = try scene.keptFiles()
    try scene.write(
      """
      target: {shell: "trap 'touch asked' TERM; (setsid sleep 1000 &); touch at; while :; do sleep 0.1; done"}
      teardown: [touch torn]
      """
    )
    let running = try scene.start("check")
    try scene.wait(for: "at", in: running)
    running.send(SIGINT)
    try scene.wait(for: "asked", in: running)
    running.send(SIGINT)
    #expect(try running.wait().code == 130)
    #expect(!scene.has("torn"))
    _ = try scene.secondsUntilGone(atMost: 20)
    #expect(try scene.project.survivors() == [])
    #expect(try scene.keptFiles() == before)
  }

  @Test("An interrupted `record` leaves nothing", arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func record(signal: Int32, code: Int32) throws {
    let scene = try Scene()
    let running = try scene.start("record", "--", "sh", "-c", "(setsid sleep 1000 &); touch at; sleep 1000")
    try scene.wait(for: "at", in: running)
    running.send(signal)
    let outcome = try running.wait()
    #expect(outcome.code == code)
    #expect(outcome.output == "")
    #expect(try scene.leftovers() == [])
  }
}
