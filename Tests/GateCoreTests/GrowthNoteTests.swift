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
    return ScenarioMeasurement(
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

  /// Repetitions with this growth per iteration, of so many iterations, that are checked against equal ones.
  private func hidden(
    _ slopes: [Double],
    iterations: Int,
    _ kind: Growth.Kind = .level,
    gate: Gate = .standard,
    hasBaseline: Bool = true,
    processes: [ProcessRecord] = [],
    runtime: CollectedRuntime? = nil,
    rise: Double? = nil
  ) -> HiddenGrowth? {
    let metrics: [MetricName: [Double]] = [.peakRSS: Given.values(10, count: slopes.count), .growth: slopes]
    var measured = Given.measurements(metrics, gate: gate)
    measured.growthIsPerIteration = true
    measured.composition = Composition(anonymous: .mebibytes(8), file: .zero, shared: .zero)
    measured.composition?.runtime = runtime
    for (at, slope) in slopes.enumerated() {
      measured.repetitions[at].growth = Growth(
        slope: slope, low: slope, high: slope, kind: kind, iterations: iterations, rise: rise)
      measured.repetitions[at].largestProcesses = processes
    }
    var baseline = Given.baseline(metrics)
    baseline.units[.growth] = MetricName.growth.unit(perIteration: true)
    let judged = measured.judged(against: hasBaseline ? .baseline(baseline) : .missing)
    let noted = judged.notes.lazy.compactMap { if case .hiddenGrowth(let growth) = $0 { growth } else { nil } }.first
    #expect(noted == judged.hiddenGrowth)
    return noted
  }

  @Test("A gate that would miss half a KiB per iteration says so and why, with and without a baseline")
  func hiddenGrowth() {
    let still = Array(repeating: 0.0, count: 10)
    let noisy = (0..<10).map { Double($0 * 2000) }
    for hasBaseline in [true, false] {
      #expect(hidden(still, iterations: 500, hasBaseline: hasBaseline) == nil)
      let few = hidden(still, iterations: 50, hasBaseline: hasBaseline)
      #expect(few == HiddenGrowth(.fewIterations, upTo: 128.0 * 1024 / 50, iterations: 50))
      #expect(hidden(noisy, iterations: 500, hasBaseline: hasBaseline)?.cause == .noise)
      #expect(hidden(noisy, iterations: 500, .settling, hasBaseline: hasBaseline)?.cause == .warmup)
      #expect(hidden(still.map { _ in 50_000 }, iterations: 500, hasBaseline: hasBaseline)?.cause == .level)
    }
  }

  @Test("A collected heap may hold a leak in place of garbage: half of what memory rose by under the load")
  func garbage() {
    let still = Array(repeating: 0.0, count: 10)
    func hidden(_ runtime: CollectedRuntime?, rise: Double) -> HiddenGrowth? {
      self.hidden(still, iterations: 1000, runtime: runtime, rise: rise)
    }
    let mebibyte = 1024.0 * 1024
    #expect(hidden(.go, rise: 4 * mebibyte) == HiddenGrowth(.garbage, upTo: 2 * mebibyte / 1000, iterations: 1000))
    #expect(hidden(.go, rise: 4 * mebibyte)?.enoughIterations == 4096)
    #expect(hidden(.go, rise: 0.5 * mebibyte) == nil)
    #expect(hidden(nil, rise: 4 * mebibyte) == nil)
  }

  private func process(_ id: Int32, of parent: Int32, peak: Int64 = 10, isMain: Bool = false) -> ProcessRecord {
    ProcessRecord(
      id: id, parent: parent, command: "server", isMain: isMain, peak: .mebibytes(peak), firstSeen: .zero,
      lastSeen: .seconds(1))
  }

  @Test("Each worker keeps memory that it has freed, from which a leak is served first")
  func workers() {
    let still = Array(repeating: 0.0, count: 10)
    let workers = [process(2, of: 1, isMain: true), process(3, of: 1), process(4, of: 1)]
    let (master, helper) = (process(1, of: 0), process(5, of: 2, peak: 4))
    for iterations in [50, 500] {
      let upTo = 3 * 128.0 * 1024 / Double(iterations)
      let expected = HiddenGrowth(.fewIterations, upTo: upTo, iterations: iterations)
      #expect(hidden(still, iterations: iterations, processes: [master, helper] + workers) == expected)
      #expect(expected.enoughIterations == 768)
    }
    #expect(hidden(still, iterations: 500, processes: [master, helper, workers[0]]) == nil)
  }

  @Test(
    "Fewer iterations than growth is judged with hide a leak that the peak does not show", arguments: [true, false])
  func unjudgedIterations(hasBaseline: Bool) throws {
    func hidden(_ iterations: Int, peak: Double = 10, gate: Gate = .standard) -> HiddenGrowth? {
      let values: [MetricName: [Double]] = [.peakRSS: Given.values(peak, count: 10)]
      var measured = Given.measurements(values, gate: gate)
      for at in measured.repetitions.indices {
        measured.repetitions[at].curve = MemoryCurve(main: MemorySeries([]), end: .zero, iterations: iterations)
      }
      let base = Given.baseline([.peakRSS: Given.values(10, count: 10)])
      return measured.judged(against: hasBaseline ? .baseline(base) : .missing).hiddenGrowth
    }
    let found = try #require(hidden(8))
    #expect(found.cause == .notJudged && found.iterations == 8)
    #expect(found.upTo >= 32 * 1024 && found.upTo < 40 * 1024, "256 KiB of the peak are allowed")
    #expect(hidden(0) == nil && hidden(1) == nil)
    #expect(hidden(8, gate: Gate(rules: [GateRule(metric: .peakRSS, tolerance: .automatic)])) == nil)
    #expect(!hasBaseline || hidden(8, peak: 12) == nil, "the peak showed it")
  }

  @Test("Growth that so few iterations cannot show passes, however quiet the baseline is by chance")
  func fewIterations() {
    func verdict(_ slope: Double, _ kind: Growth.Kind) -> Verdict? {
      var measured = Given.measurements([.growth: Array(repeating: slope, count: 5)])
      measured.growthIsPerIteration = true
      for at in 0..<5 {
        measured.repetitions[at].growth = Growth(slope: slope, low: slope, high: slope, kind: kind, iterations: 10)
      }
      var baseline = Given.baseline([.growth: Array(repeating: 1024, count: 10)])
      baseline.units[.growth] = MetricName.growth.unit(perIteration: true)
      return measured.judged(against: .baseline(baseline)).metrics.first { $0.metric == .growth }?.verdict
    }
    #expect(verdict(11_000, .settling) == .pass)
    #expect(verdict(11_000, .level) == .pass)
    #expect(verdict(17_000, .level) == .regression)
    #expect(verdict(17_000, .settling) == .inconclusive)
  }

  @Test("A gate without a tolerance for growth, or with a limit on it, hides nothing that it promises")
  func nothingHidden() {
    let still = Array(repeating: 0.0, count: 10)
    let peak = GateRule(metric: .peakRSS, tolerance: .automatic)
    #expect(hidden(still, iterations: 50, gate: Gate(rules: [peak])) == nil)
    let limited = GateRule(metric: .growth, tolerance: .automatic, limit: .kibibytes(1))
    #expect(hidden(still, iterations: 50, gate: Gate(rules: [peak, limited])) == nil)
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
