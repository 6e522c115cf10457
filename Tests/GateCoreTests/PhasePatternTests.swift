import Testing

@testable import GateCore

@Suite("Rules for all phases whose names fit")
struct PhasePatternTests {
  @Test(
    "A pattern stands for the same metric of the phases that fit",
    arguments: [
      ("phase.*.peak_rss", "phase.load.peak_rss", true),
      ("phase.*.peak_rss", "phase.load.steady_rss", false),
      ("phase.*.peak_rss", "peak_rss", false),
      ("phase.test_*.peak_rss", "phase.test_a.b.peak_rss", true),
      ("phase.test_*.peak_rss", "phase.a_test_b.peak_rss", false),
      ("phase.*cache*.peak_rss", "phase.test_cache_put.peak_rss", true),
      ("phase.*cache*.peak_rss", "phase.cache.peak_rss", true),
      ("phase.a*b*b.peak_rss", "phase.ab.peak_rss", false),
      ("phase.a*b*b.peak_rss", "phase.abb.peak_rss", true),
      ("phase.load.peak_rss", "phase.load.peak_rss", false),
      ("phase.*.peak_rss", "phase.l*.peak_rss", false),
    ])
  func matching(pattern: String, metric: String, stands: Bool) {
    #expect(MetricName(pattern).stands(for: MetricName(metric)) == stands)
  }

  @Test("A name with a pattern is parsed if a phase can have such a name", arguments: ["*", "test_*", "*.cache-*"])
  func valid(phase: String) {
    #expect(MetricName(parsing: "phase.\(phase).peak_rss")?.isPattern == true)
  }

  @Test("Other names are not", arguments: ["phase.a b*.peak_rss", "phase.*.growth", "value.*", "*", "phase.*"])
  func invalid(name: String) {
    #expect(MetricName(parsing: name) == nil)
  }

  private static let rule = GateRule(
    metric: MetricName("phase.*.peak_rss"), tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(64)))

  /// The peaks of phases in MiB, in five repetitions.
  private static func measured(_ peaks: [String: Double], rules: [GateRule] = [rule]) -> ScenarioMeasurement {
    var measured = Given.measurements([.peakRSS: Given.values(100)], gate: Gate(rules: rules))
    for index in measured.repetitions.indices {
      measured.repetitions[index].phases = peaks.sorted { $0.key < $1.key }.map { name, peak in
        .init(name: name, metrics: [.peakRSS: peak * 1_048_576])
      }
    }
    return measured
  }

  private static func baseline(_ peaks: [String: Double]) -> Baseline {
    let metrics = peaks.map { (MetricName.phase($0, .peakRSS), Given.values($1)) }
    return Given.baseline(Dictionary(uniqueKeysWithValues: metrics).merging([.peakRSS: Given.values(100)]) { $1 })
  }

  @Test("Each phase is judged, and the one that rose is named")
  func judged() {
    let result = Self.measured(["a": 10, "b": 30]).judged(against: .baseline(Self.baseline(["a": 10, "b": 20])))
    #expect(result.verdict == .regression)
    #expect(result.metrics.map(\.metric) == [.phase("a", .peakRSS), .phase("b", .peakRSS)])
    #expect(result.metrics.map(\.verdict) == [.pass, .regression])
    let again = result.judged(against: .baseline(Self.baseline(["a": 10, "b": 30])))
    #expect(again.verdict == .pass && again.gate == result.gate)
  }

  @Test("A phase with a rule of its own keeps it, and of several patterns the first counts")
  func precedence() {
    let own = GateRule(metric: .phase("b", .peakRSS), tolerance: .bounds(relative: Percent(80), absolute: nil))
    let loose = GateRule(
      metric: MetricName("phase.a*.peak_rss"), tolerance: .bounds(relative: Percent(80), absolute: nil))
    let result = Self.measured(["ab": 15, "b": 30, "c": 30], rules: [loose, Self.rule, own])
      .judged(against: .baseline(Self.baseline(["ab": 10, "b": 20, "c": 20])))
    let verdicts = result.metrics.map { ($0.metric.inPhase?.phase, $0.verdict) }
    #expect(verdicts.first { $0.0 == "ab" }?.1 == .pass)
    #expect(verdicts.first { $0.0 == "b" }?.1 == .pass)
    #expect(verdicts.first { $0.0 == "c" }?.1 == .regression)
  }

  @Test("New and removed phases are a note, not a verdict")
  func others() {
    let result = Self.measured(["a": 10, "new": 10]).judged(against: .baseline(Self.baseline(["a": 10, "gone": 20])))
    #expect(result.verdict == .pass)
    #expect(result.notes.contains(.otherPhases(new: ReportedNames(["new"]), gone: ReportedNames(["gone"]))))
    #expect(result.metrics.first { $0.metric == .phase("new", .peakRSS) }?.verdict == .skipped)
  }

  @Test("Without a baseline each phase lacks one, and a pattern that no phase fits is inconclusive")
  func nothing() {
    #expect(Self.measured(["a": 10]).judged(against: .missing).verdict == .noBaseline)
    let none = Self.measured([:]).judged(against: .baseline(Self.baseline(["a": 10])))
    #expect(none.verdict == .inconclusive)
    #expect(none.metrics.first?.reason == .unavailable(cause: .noPhaseStarted))
  }
}
