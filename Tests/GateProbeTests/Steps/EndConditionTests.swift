import Foundation
import GateCore
import LinuxSystem
import Testing

@testable import GateProbe

@Suite("How a repetition ends", .timeLimit(.minutes(60)))
struct EndConditionTests {
  let harness = ScenarioHarness()

  @Test("The exit code is recorded", arguments: [0, 1, 3, 77, 126, 127, 137, 143, 255])
  func exited(code: Int) throws {
    let recording = try harness.run(harness.scenario("exit \(code)"))
    #expect(recording.end.kind == .exited)
    #expect(recording.end.code == code)
    #expect(recording.failure == nil)
    #expect(recording.notes == [])
  }

  @Test(
    "The terminating signal decides the kind of the end",
    arguments: [
      ("HUP", .signaled), ("INT", .signaled), ("QUIT", .signaled), ("ILL", .trap), ("TRAP", .trap), ("ABRT", .abort),
      ("BUS", .crash), ("FPE", .crash), ("KILL", .killed), ("USR1", .signaled), ("SEGV", .crash), ("USR2", .signaled),
      ("PIPE", .signaled), ("ALRM", .signaled), ("TERM", .signaled), ("XCPU", .signaled), ("SYS", .crash),
    ] as [(String, End.Kind)]
  )
  func signaled(name: String, kind: End.Kind) throws {
    let recording = try harness.run(harness.scenario("ulimit -c 0; kill -s \(name) $$; sleep 1000"))
    #expect(recording.end.kind == kind)
    #expect(recording.end.signal?.name == name)
    #expect(recording.failure == nil)
  }

  @Test("A segmentation fault is a crash")
  func fault() throws {
    let recording = try harness.run(
      harness.scenario("ulimit -c 0; exec python3 -c 'import ctypes; ctypes.string_at(0)'"))
    #expect(recording.end.kind == .crash)
    #expect(recording.end.signal == .segv)
  }

  @Test("An abort after a failed allocation is an allocation failure")
  func allocation() throws {
    let line = "Fatal error: failed to allocate 10485792 bytes of memory with alignment 16"
    let recording = try harness.run(harness.scenario("ulimit -c 0; echo '\(line)' >&2; kill -ABRT $$; sleep 1000"))
    #expect(recording.end == End(.allocationFailure, signal: .abrt, proof: .failedAllocation(line: line)))
    #expect(recording.outputTail == line)
  }

  @Test("The cause of a trap is the last fatal error in the output")
  func trap() throws {
    let recording = try harness.run(
      harness.scenario("ulimit -c 0; echo 'a.swift:1: Fatal error: x'; kill -ILL $$; sleep 9"))
    #expect(recording.end == End(.trap, signal: .ill, cause: .fatalError(line: "a.swift:1: Fatal error: x")))
  }

  @Test("A target is killed with its children after the timeout")
  func timeout() throws {
    var scenario = harness.scenario("trap '' TERM; sleep 1000 & sleep 1000")
    scenario.timeout = .milliseconds(300)
    let recording = try harness.run(scenario)
    #expect(
      recording.end == End(.timeout, cause: .timeout(kind: .notEnded(within: .milliseconds(300)), limitHits: nil)))
    #expect(recording.failure?.part == .init(.end))
    #expect(recording.duration >= .milliseconds(300))
    #expect(!scenario.accepts(recording.end))
  }

  @Test("A timeout names the current step")
  func timeoutInStep() throws {
    var scenario = harness.scenario("sleep 1000")
    scenario.timeout = .milliseconds(300)
    scenario.steps = [Step(.mark("a")), Step(.wait(.seconds(100)))]
    let recording = try harness.run(scenario)
    #expect(recording.end.kind == .timeout)
    #expect(recording.failure?.part == .init(.step, at: [.step(number: 2, of: 2)], text: "wait: 1 min 40 s"))
    #expect(recording.failure?.problem == .outOfTime(after: .milliseconds(300)))
  }

  @Test("A missing program fails the start")
  func missing() throws {
    let recording = try harness.run(harness.scenario(.arguments(["no-such-program-here"])))
    #expect(recording.end.kind == .startFailed)
    #expect(recording.failure?.part == .init(.start, text: "no-such-program-here"))
    guard case .launch(let error)? = recording.failure?.problem, case .notInPath = error.reason else {
      Issue.record("the failure is not notInPath")
      return
    }
  }

  @Test("A missing working directory fails the start")
  func missingFolder() throws {
    var scenario = harness.scenario("true")
    scenario.target.workingDirectory = harness.path("none")
    let recording = try harness.run(scenario)
    #expect(recording.end.kind == .startFailed)
    guard case .launch(let error)? = recording.failure?.problem else {
      Issue.record("the failure is not a launch error")
      return
    }
    #expect(error.stage == .directory && recording.end.cause == .startFailed(problem: .launch(error: error)))
  }

  @Test("A FIFO as input is read if someone writes to it; else the timeout or an interruption ends the wait")
  func inputFIFO() throws {
    var scenario = harness.scenario("exec cat")
    scenario.target.input = .file(harness.path("fifo"))
    scenario.setup = [.shell("rm -f fifo; mkfifo fifo; (sleep 0.2; echo late > fifo) > /dev/null 2>&1 &")]
    #expect(try harness.run(scenario).outputTail == "late")
    scenario.setup = [.shell("rm -f fifo; mkfifo fifo")]
    scenario.timeout = .seconds(3)
    #expect(try harness.run(scenario).failure?.problem == .noInputWriter(within: scenario.timeout))
    scenario.timeout = .seconds(60)
    let interruption = harness.interruption
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      interruption.request(by: SIGINT)
    }
    // The recording of an interrupted run is dropped.
    #expect(harness.measure(scenario) == nil)
  }

  @Test("A missing input file fails the start")
  func missingInput() throws {
    var scenario = harness.scenario("cat")
    scenario.target.input = .file(harness.path("none"))
    let recording = try harness.run(scenario)
    #expect(recording.end.kind == .startFailed)
    #expect(recording.failure?.problem == .system(failure: SystemFailure(.open, path: harness.path("none"), code: 2)))
  }
}
