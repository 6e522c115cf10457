import GateCore
import Testing

@testable import GateApplication

@Suite("Repetitions of a scenario, with scripted recordings")
struct ScenarioRunTests {
  private func measure(
    repetitions: Int = 3,
    warmup: Int = 1,
    edit: (inout Scenario) -> Void = { _ in },
    by script: @escaping @Sendable (_ number: Int) -> Recording?
  ) -> ScenarioMeasurement? {
    var scenario = Scenario(
      name: ScenarioName("load"), target: Target(command: .shell("true"), workingDirectory: "/")
    )
    scenario.warmup = warmup
    edit(&scenario)
    let measurer = ScriptedMeasurer { _, start in script(start + 1 - warmup) }
    var run = ScenarioRun(
      scenario, in: EnvironmentInfo(name: "here", fingerprint: measurer.fingerprint(for: scenario)), by: measurer,
      into: ArtifactsFolder(path: "/nowhere"), showProgress: { _ in })
    run.storesRecordings = false
    return run.run(to: repetitions, of: repetitions) ? run.measurement : nil
  }

  private static func recording(_ end: End = End(.exited, code: 0), mebibytes: Int64 = 20, notes: [RecordingNote] = [])
    -> Recording
  {
    let bytes = Bytes.mebibytes(mebibytes)
    let figures = MemoryReading(resident: bytes, peak: bytes, anonymous: bytes, file: .zero, shared: .zero)
    let samples = (0..<100).map { Sample(time: .milliseconds($0 * 10), main: figures, tree: bytes, processes: 1) }
    return Recording(
      samples: samples, composition: Composition(anonymous: bytes, file: .zero, shared: .zero), end: end,
      duration: .seconds(1), outputTail: "last words", notes: notes
    )
  }

  @Test("Warm-ups run first, with numbers up to 0, and do not count")
  func warmups() throws {
    let measured = measure(warmup: 2) { Self.recording(mebibytes: $0 < 1 ? 99 : 20) }
    #expect(measured?.repetitions.map { $0.metrics[.peakRSS] } == Array(repeating: 20 * 1_048_576, count: 3))
  }

  @Test("The first failed repetition ends the scenario and is reported with its number and output")
  func failing() throws {
    let measured = measure { $0 == 2 ? Self.recording(End(.crash, signal: .segv)) : Self.recording() }
    #expect(measured?.failure?.attempt == .init(number: 2, of: 3))
    #expect(measured?.failure?.problem == .unexpectedEnd(expected: ExpectedEnd(exits: [0])))
    #expect(measured?.failure?.output == "last words")
    #expect(measured?.repetitions.count == 2)
    #expect(measured?.failure?.isInconclusive == false)
  }

  @Test("A failed warm-up is a failure, too")
  func failingWarmup() throws {
    let measured = measure { _ in Self.recording(End(.exited, code: 3)) }
    #expect(measured?.failure?.attempt == .init(number: 1, of: 1, isWarmup: true))
    #expect(measured?.repetitions.count == 1)
  }

  @Test("A kill by an unknown sender leaves the scenario inconclusive")
  func killed() throws {
    let measured = measure { _ in Self.recording(End(.killed, signal: .kill)) }
    #expect(measured?.failure?.isInconclusive == true)
  }

  @Test("An interruption gives no measurements")
  func interrupted() throws {
    let measured = measure { $0 == 2 ? nil : Self.recording() }
    #expect(measured == nil)
  }

  @Test("The composition is that of the repetition with the median peak")
  func composition() throws {
    let measured = measure(warmup: 0) { Self.recording(mebibytes: [30, 10, 20][$0 - 1]) }
    #expect(measured?.composition?.anonymous == .mebibytes(20))
  }

  @Test("A note shared by several repetitions is one note with their number")
  func notes() throws {
    let notes: [[RecordingNote]] = [
      [.brief, .numbersTooLarge, .unkillable(pids: [1])], [.brief, .numbersTooLarge], [.brief],
    ]
    let measured = measure(warmup: 0) { Self.recording(notes: notes[$0 - 1]) }
    let shared = measured?.notes.filter { if case .recording = $0 { true } else { false } }
    // Notes on the measurement itself come with each repetition, too.
    let withoutBrief = shared?.filter { if case .recording(.brief, _, _) = $0 { false } else { true } }
    #expect(
      withoutBrief == [
        .recording(note: .numbersTooLarge, count: 2, total: 3),
        .recording(note: .unkillable(pids: [1]), count: 1, total: 3),
      ])
    #expect(shared?.contains(.recording(note: .brief, count: 3, total: 3)) == true)
  }
}
