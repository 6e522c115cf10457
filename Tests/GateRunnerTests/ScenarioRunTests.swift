import GateCore
import Testing

@testable import GateRunner

@Suite("The repetitions of a scenario, by a scripted probe")
struct ScenarioRunTests {
  private func measure(
    repetitions: Int = 3,
    warmup: Int = 1,
    edit: (inout Scenario) -> Void = { _ in },
    by measuring: Measuring
  ) -> ScenarioMeasurements? {
    var scenario = Scenario(
      name: ScenarioName("load"), target: Target(command: .shell("true"), workingDirectory: "/")
    )
    scenario.warmup = warmup
    edit(&scenario)
    let fingerprint = Fingerprint(
      architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "sampled",
      kernel: "6.1", libc: "glibc 2.36"
    )
    var run = ScenarioRun(
      scenario: scenario, environment: EnvironmentInfo(name: "here", fingerprint: fingerprint), show: { _ in }
    )
    return run.run(to: repetitions, of: repetitions, by: measuring) ? run.measurements : nil
  }

  private func recording(_ end: End = End(.exited, code: 0), mebibytes: Int64 = 20, notes: [RecordingNote] = [])
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

  @Test("Warm-ups run first, with numbers up to 0, and are not counted")
  func warmups() throws {
    var numbers: [Int] = []
    let measured = measure(warmup: 2) { _, number in
      numbers.append(number)
      return recording(mebibytes: number < 1 ? 99 : 20)
    }
    #expect(numbers == [-1, 0, 1, 2, 3])
    #expect(measured?.repetitions.map { $0.metrics[.peakRSS] } == Array(repeating: 20 * 1_048_576, count: 3))
  }

  @Test("The first repetition that cannot count ends the scenario, and says which it was, and with what output")
  func failing() throws {
    var played = 0
    let measured = measure { _, number in
      played += 1
      return number == 2 ? recording(End(.crash, signal: .segv)) : recording()
    }
    #expect(played == 3)
    #expect(measured?.failure?.attempt == .init(number: 2, of: 3))
    #expect(measured?.failure?.problem == .unexpectedEnd(expected: ExpectedEnd(exits: [0])))
    #expect(measured?.failure?.output == "last words")
    #expect(measured?.repetitions.count == 2)
    #expect(measured?.wasKilled == false)
  }

  @Test("A warm-up that fails is a failure, too")
  func failingWarmup() throws {
    let measured = measure { _, _ in recording(End(.exited, code: 3)) }
    #expect(measured?.failure?.attempt == .init(number: 1, of: 1, isWarmup: true))
    #expect(measured?.repetitions.count == 1)
  }

  @Test("A target killed by an unknown sender leaves the scenario undecided")
  func killed() throws {
    let measured = measure { _, _ in recording(End(.killed, signal: .kill)) }
    #expect(measured?.wasKilled == true)
  }

  @Test("An interruption yields nothing")
  func interrupted() throws {
    let measured = measure { _, number in number == 2 ? nil : recording() }
    #expect(measured == nil)
  }

  @Test("The composition is that of the repetition with the middle peak")
  func composition() throws {
    let measured = measure(warmup: 0) { _, number in recording(mebibytes: [30, 10, 20][number - 1]) }
    #expect(measured?.composition?.anonymous == .mebibytes(20))
  }

  @Test("What repetitions had to say alike is said once, with their number unless all of them did")
  func notes() throws {
    let measured = measure(warmup: 0) { _, number in
      recording(
        notes: [["always", "often", "once"], ["always", "often"], ["always"]][number - 1].map { .verbatim($0) })
    }
    #expect(measured?.notes == ["always", "often (in 2 of 3 repetitions)", "once (in 1 of 3 repetitions)"])
  }
}
