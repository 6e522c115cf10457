import GateCore
import Testing

@Suite("The note on growth without a gate")
struct GrowthNoteTests {
  private func measured(
    _ kinds: [Growth.Kind],
    slope: Double = 4300,
    gate: Gate = .standard,
    perIteration: Bool = false,
    metrics: [MetricName: Double] = [.peakRSS: 4096, .steadyRSS: 4096],
    failure: Failure? = nil
  ) -> ScenarioResult {
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
    return ScenarioResult(
      name: ScenarioName("load"), environment: EnvironmentInfo(name: "here", fingerprint: fingerprint), gate: gate,
      repetitions: repetitions, failure: failure, growthIsPerIteration: perIteration
    ).judged(against: .missing)
  }

  private func note(slope: Double = 4300, count: Int, total: Int, limit: Int64) -> Note {
    let growth = Growth(slope: slope, low: slope - 100, high: slope + 100, kind: .continuous)
    return .ungatedGrowth(growth: growth, count: count, total: total, limit: .size(Bytes(limit)))
  }

  @Test("It has the median growth, a limit and, without a gate in the project file, the gate to add")
  func standardGate() {
    let measured = measured([.continuous, .continuous, .level])
    #expect(measured.noteOnUngatedGrowth == note(count: 2, total: 3, limit: 2048))
    let gate = measured.gate(limitingGrowthTo: .kibibytes(2))
    let expected = ["peak_rss: auto", "steady_rss: auto", "growth: {limit: 2KiB}"]
    #expect(gate.rules.map(\.spelled) == expected)
    #expect(!gate.isStandard)
  }

  @Test("A metric that most repetitions lack is not in the suggested gate")
  func withoutLevel() {
    let rules = measured([.continuous], metrics: [.peakRSS: 4096]).gate(limitingGrowthTo: .kibibytes(2)).rules
    #expect(rules.map(\.spelled) == ["peak_rss: auto", "growth: {limit: 2KiB}"])
  }

  @Test(
    "The limit is half the growth, rounded down to a power of two; existing gate rules are kept",
    arguments: [(0.5, "1B"), (12, "4B"), (2048, "1KiB"), (4094, "1KiB"), (3_000_000, "1MiB"), (5e12, "2048GiB")])
  func writtenGate(slope: Double, limit: String) throws {
    let rule = GateRule(metric: .treePeak, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)))
    let measured = measured([.continuous], slope: slope, gate: Gate(rules: [rule]))
    let amount = try Amount(parsing: limit)
    #expect(measured.noteOnUngatedGrowth == note(slope: slope, count: 1, total: 1, limit: Int64(amount.value)))
    let rules = measured.gate(limitingGrowthTo: amount).rules
    #expect(rules.count == 2 && rules[0] == rule && rules[1].spelled == "growth: {limit: \(limit)}")
  }

  @Test("There is no note if a rule covers growth, even if it is off; the default gate covers it per iteration")
  func gated() {
    #expect(measured([.continuous], perIteration: true).noteOnUngatedGrowth == nil)
    let rule = GateRule(metric: .growth, tolerance: nil, severity: .off)
    #expect(measured([.continuous], gate: Gate(rules: [rule])).noteOnUngatedGrowth == nil)
  }

  @Test("There is no note for half of the repetitions or fewer, settling growth, no growth, or a failure")
  func noNote() {
    #expect(measured([.continuous, .level]).noteOnUngatedGrowth == nil)
    #expect(measured([.settling, .settling]).noteOnUngatedGrowth == nil)
    #expect(measured([]).noteOnUngatedGrowth == nil)
    let failure = Given.failure(End(.exited, code: 3))
    #expect(measured([.continuous], failure: failure).noteOnUngatedGrowth == nil)
  }
}
