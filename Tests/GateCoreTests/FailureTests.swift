import FoundationEssentials
import GateCore
import Testing

@Suite("Failures of repetitions")
struct FailureTests {
  private let loop = TargetEvent(.loop(name: "Model.update", calls: 100, turns: 1), at: .seconds(1))

  private func failure(
    end: End,
    step: Failure? = nil,
    loop: TargetEvent? = nil,
    edit: (inout Scenario) -> Void = { _ in }
  ) -> Failure? {
    var scenario = Scenario(
      name: ScenarioName("s"), target: Target(command: .arguments(["true"]), workingDirectory: "/"))
    edit(&scenario)
    let marks = [Mark(time: .seconds(1), event: .mark("activity.idle"))]
    return Recording(marks: marks, end: end, failure: step, outputTail: "last words").failure(in: scenario, loop: loop)
  }

  @Test("An accepted end is not a failure")
  func accepted() {
    #expect(failure(end: End(.exited, code: 0)) == nil)
  }

  @Test("An unexpected end has the expected end, the target's activity and its output")
  func unexpected() {
    let end = End(.crash, signal: .segv)
    let expected = Failure(
      problem: .unexpectedEnd(expected: ExpectedEnd(exits: [0])), end: end, activity: "idle", output: "last words")
    #expect(failure(end: end) == expected)
    let stopped = failure(end: end) { $0.until = .steps }
    #expect(stopped?.problem == .unexpectedEnd(expected: ExpectedEnd(exits: [0], signals: [.term])))
  }

  @Test("A failed step keeps its problem, and has the end only if that is unexpected")
  func step() {
    let step = Failure(part: .init(.step, at: [.step(number: 1, of: 2)]), problem: .stdinClosed, output: "of the step")
    #expect(failure(end: End(.exited, code: 0), step: step)?.end == nil)
    let failed = failure(end: End(.exited, code: 3), step: step)
    #expect(failed?.problem == .stdinClosed && failed?.end?.code == 3 && failed?.output == "of the step")
  }

  @Test("Only SIGKILL by an unknown sender is inconclusive, unless a loop explains it")
  func inconclusive() {
    let killed = End(.killed, signal: .kill, cause: .senderUnknown(nearLimit: nil))
    #expect(failure(end: killed)?.isInconclusive == true)
    #expect(failure(end: killed, step: Failure(problem: .stdinClosed))?.isInconclusive == true)
    #expect(failure(end: killed, loop: loop)?.isInconclusive == false)
    #expect(failure(end: killed, loop: loop)?.problem == .loop(event: loop, other: nil))
    #expect(failure(end: End(.oom, signal: .kill))?.isInconclusive == false)
    #expect(failure(end: killed) { $0.expect = ExpectedEnd(signals: [.kill]) } == nil)
  }

  @Test("Failures, ends and notes survive a round trip through JSON")
  func coding() throws {
    let nested = Failure(
      attempt: .init(number: 2, of: 5, isComparison: true),
      part: .init(
        .step, at: [.step(number: 3, of: 7), .turn(number: 2, of: 5), .step(number: 1, of: 2)], text: "run: x"),
      problem: .launch(
        error: LaunchError(.execution, .system(code: 2), program: "x", folder: "/", hint: .missingInterpreter)),
      end: End(
        .oom, signal: .kill, proof: .machine(kills: .init(before: 1, after: 2)), cause: .memoryLimit(limit: .machine)),
      activity: "idle", place: SourcePlace(file: "a.yml", line: 1, column: 2), output: "o"
    )
    let failure = Failure(problem: .loop(event: loop, other: nested))
    #expect(try JSONDecoder().decode(Failure.self, from: JSONEncoder().encode(failure)) == failure)
    let notes: [RecordingNote] = [
      .brief, .survivors(count: 9, first: ["cat"]), .event(event: loop),
      .killedAfterStop(signal: .term, grace: .seconds(10)),
      .outputNotStored(failure: SystemFailure(.open, path: "/x", code: 13)),
    ]
    #expect(try JSONDecoder().decode([RecordingNote].self, from: JSONEncoder().encode(notes)) == notes)
  }
}
