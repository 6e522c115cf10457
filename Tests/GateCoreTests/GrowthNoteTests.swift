import GateCore
import Testing

@Suite("A note on leaks that no rule looks at")
struct GrowthNoteTests {
  private func measured(
    _ kinds: [Growth.Kind],
    slope: Double = 4300,
    gate: Gate = .standard,
    perIteration: Bool = true,
    metrics: [MetricName: Double] = [.peakRSS: 4096, .steadyRSS: 4096],
    failure: Failure? = nil
  ) -> ScenarioMeasurements {
    let repetitions = kinds.map { kind in
      RepetitionResult(
        end: End(.exited, code: 0), duration: .zero, processes: 1, metrics: metrics,
        growth: Growth(slope: slope, low: slope - 100, high: slope + 100, kind: kind)
      )
    }
    let fingerprint = Fingerprint(
      architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "sampled",
      kernel: "6.18", libc: "glibc 2.36"
    )
    return ScenarioMeasurements(
      name: ScenarioName("load"), environment: EnvironmentInfo(name: "here", fingerprint: fingerprint), gate: gate,
      repetitions: repetitions, growthIsPerIteration: perIteration, failure: failure
    )
  }

  @Test("It has figures, and the gate to write where none is written")
  func standardGate() {
    #expect(
      GrowthNote.notes(on: measured([.leaking, .leaking, .level])) == [
        "memory leaks in 2 of 3 repetitions, by 4.2 KiB/iteration (95 %: 4.1 KiB/iteration to 4.3 KiB/iteration), and "
          + "no rule of the gate looks at growth; to judge it, write "
          + "`gate: {peak_rss: [3%, 512KiB], steady_rss: [3%, 512KiB], growth: {limit: 2KiB}}`"
      ]
    )
  }

  @Test("A metric that most repetitions lack is left out of the gate to write")
  func withoutLevel() {
    let notes = GrowthNote.notes(on: measured([.leaking], metrics: [.peakRSS: 4096]))
    #expect(notes.first?.hasSuffix("write `gate: {peak_rss: [3%, 512KiB], growth: {limit: 2KiB}}`") == true)
  }

  @Test(
    "A gate that is written gets a line, with half of the leak rounded down to a power of two",
    arguments: [(0.5, "1B"), (12, "4B"), (2048, "1KiB"), (4094, "1KiB"), (3_000_000, "1MiB"), (5e12, "2048GiB")])
  func writtenGate(slope: Double, limit: String) {
    let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: .standard)])
    let notes = GrowthNote.notes(on: measured([.leaking], slope: slope, gate: gate, perIteration: false))
    #expect(notes.first?.hasSuffix("to judge it, add `growth: {limit: \(limit)}` to its `gate`") == true)
    #expect(notes.first?.contains("/iteration") == false)
  }

  @Test("Nothing is said where a rule looks at growth, even if it is off")
  func gated() {
    let rule = GateRule(metric: .growth, tolerance: nil, severity: .off)
    #expect(GrowthNote.notes(on: measured([.leaking], gate: Gate(rules: [rule]))) == [])
  }

  @Test("Nothing is said of half of the repetitions or less, of settling, of none, and of a failure")
  func silence() {
    #expect(GrowthNote.notes(on: measured([.leaking, .level])) == [])
    #expect(GrowthNote.notes(on: measured([.settling, .settling])) == [])
    #expect(GrowthNote.notes(on: measured([])) == [])
    let failure = Failure(subject: "repetition 1", problem: "exited with code 3")
    #expect(GrowthNote.notes(on: measured([.leaking], failure: failure)) == [])
  }
}
