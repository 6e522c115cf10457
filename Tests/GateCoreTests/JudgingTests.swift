import FoundationEssentials
import GateCore
import Testing

/// Measurements and baselines with given values.
enum Given {
  static let fingerprint = Fingerprint(
    architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "sampled",
    kernel: "6.1", libc: "glibc 2.36"
  )

  static func environment(_ change: (inout Fingerprint) -> Void = { _ in }) -> EnvironmentInfo {
    var changed = fingerprint
    change(&changed)
    return EnvironmentInfo(name: changed.derivedName(), fingerprint: changed)
  }

  static func baseline(_ metrics: [MetricName: [Double]]) -> Baseline {
    Baseline(
      scenario: ScenarioName("load"), environment: "linux-x86_64-2cpu-sampled", fingerprint: fingerprint,
      metrics: metrics, approval: approval
    )
  }

  static let approval = Approval(
    at: Date(timeIntervalSince1970: 0), by: "ann", commit: nil, reason: nil, run: "0"
  )

  static func measurements(
    _ metrics: [MetricName: [Double?]],
    gate: Gate = .standard,
    in environment: EnvironmentInfo = environment()
  ) -> ScenarioMeasurement {
    let count = metrics.values.map(\.count).max() ?? 0
    let repetitions = (0..<count).map { index in
      RepetitionResult(
        end: End(.exited, code: 0), duration: .seconds(1), processes: 1,
        metrics: metrics.compactMapValues { $0[index] }
      )
    }
    return ScenarioMeasurement(
      name: ScenarioName("load"), environment: environment, gate: gate, repetitions: repetitions
    )
  }

  static func failure(_ end: End) -> Failure {
    Failure(problem: .unexpectedEnd(expected: ExpectedEnd(exits: [0])), end: end)
  }

  static func values(_ mebibytes: Double, count: Int = 5, step: Double = 0) -> [Double] {
    (0..<count).map { (mebibytes + Double($0) * step) * 1_048_576 }
  }
}

@Suite("Judging a scenario")
struct JudgingTests {
  private func verdict(
    _ current: [Double],
    _ baseline: [Double],
    tolerance: Tolerance = .bounds(relative: Percent(3), absolute: .kibibytes(512))
  ) -> Verdict {
    let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: tolerance)])
    return Given.measurements([.peakRSS: current], gate: gate)
      .judged(against: .baseline(Given.baseline([.peakRSS: baseline]))).verdict
  }

  @Test("The larger of the two tolerances counts; its bound passes, and a byte more fails")
  func tolerance() {
    let (small, large) = (Array(repeating: 2e6, count: 5), Array(repeating: 1e9, count: 5))
    #expect(verdict(small.map { $0 + 524_288 }, small) == .pass)
    #expect(verdict(small.map { $0 + 524_289 }, small) == .regression)
    #expect(verdict(large.map { $0 + 30_000_000 }, large) == .pass)
    #expect(verdict(large.map { $0 + 30_000_001 }, large) == .regression)
    #expect(verdict(small.map { $0 + 262_145 }, small, tolerance: .automatic) == .regression)
    #expect(verdict(small.map { $0 + 262_144 }, small, tolerance: .automatic) == .pass)
  }

  @Test("A fall beyond the tolerance is an improvement")
  func improvement() {
    #expect(verdict(Given.values(80), Given.values(100)) == .improved)
    #expect(verdict(Given.values(98), Given.values(100)) == .pass)
  }

  @Test("With noise above the tolerance, a small rise is inconclusive and a large rise a regression")
  func noise() {
    let noisy = Given.values(100, count: 10, step: 2)
    #expect(verdict(noisy.map { $0 + 4e6 }, noisy) == .inconclusive)
    #expect(verdict(noisy, noisy) == .inconclusive)
    #expect(verdict(noisy.map { $0 + 40e6 }, noisy) == .regression)
    #expect(verdict(noisy.map { $0 - 40e6 }, noisy) == .improved)
  }

  @Test("One outlier in ten repetitions does not change the verdict")
  func outlier() {
    var current = Given.values(100, count: 10)
    current[3] *= 3
    #expect(verdict(current, Given.values(100, count: 10)) == .pass)
  }

  @Test("A result has the change, its interval, the tolerance and the smallest detectable change")
  func details() throws {
    let result = Given.measurements([.peakRSS: Given.values(110)])
      .judged(against: .baseline(Given.baseline([.peakRSS: Given.values(100)])))
    let metric = try #require(result.metrics.first)
    #expect(metric.change?.absolute == 10_485_760.0)
    #expect(metric.change?.percent == 10)
    #expect(metric.change.map { $0.low...$0.high } == 10_485_760.0...10_485_760.0)
    #expect(metric.allowed == 1_048_576.0)
    // A page is the smallest deviation: 1.28 × 4096 × √(1/5 + 1/5) on top of the tolerance.
    #expect(metric.detectable.map { ($0 - 1_048_576).rounded() } == 3316)
    #expect(metric.resolution.map { $0.rounded() } == 12_694)
    #expect(metric.method == .ranks && metric.chance.map { ($0 * 252).rounded() } == 1)
    #expect(metric.reason == .rise && metric.change?.shift == 10_485_760.0)
    #expect(result.verdict == .regression)
  }

  @Test("A limit needs no baseline, and a metric above its limit fails the scenario")
  func limit() {
    let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: nil, limit: .mebibytes(100))])
    let within = Given.measurements([.peakRSS: Given.values(100)], gate: gate)
    #expect(within.judged(against: .missing).verdict == .pass)
    let above = Given.measurements([.peakRSS: Given.values(100.1)], gate: gate)
    #expect(above.judged(against: .missing).verdict == .regression)
  }

  @Test("Without a baseline the verdict is no-baseline, or skipped if that is allowed")
  func missingBaseline() {
    let measurements = Given.measurements([.peakRSS: Given.values(100)])
    #expect(measurements.judged(against: .missing).verdict == .noBaseline)
    #expect(measurements.judged(against: .missing, allowsMissingBaseline: true).verdict == .skipped)
  }

  @Test("A baseline of another environment is named, with the differing fields")
  func otherEnvironment() {
    let environment = Given.environment { $0.cpus = 4 }
    let differences = environment.fingerprint.differences(fromBaseline: Given.fingerprint)
    let result = Given.measurements([.peakRSS: Given.values(100)], in: environment)
      .judged(against: .otherEnvironment(name: "linux-x86_64-2cpu-sampled", differences: differences))
    #expect(result.verdict == .noBaseline)
    let difference = Fingerprint.Difference(field: .cpus, baseline: "2", current: "4")
    #expect(result.notes.contains(.otherEnvironment(name: "linux-x86_64-2cpu-sampled", differences: [difference])))
    #expect(result.metrics.map(\.reason) == [.noBaseline])
  }

  @Test("A different hard field prevents a comparison unless it is ignored; a soft field gives a note")
  func hardAndSoft() {
    let baseline = Given.baseline([.peakRSS: Given.values(100)])
    let more = Given.environment { $0.cpus = 4 }
    #expect(!baseline.isComparable(to: more))
    var ignoring = more
    ignoring.ignoredFields = [.cpus]
    #expect(baseline.isComparable(to: ignoring))
    let newer = Given.environment { $0.kernel = "6.18" }
    #expect(baseline.isComparable(to: newer))
    #expect(baseline.isComparable(to: Given.environment { $0.measurement = "sampled+cgroup" }))
    #expect(!baseline.isComparable(to: Given.environment { $0.measurement = "traced" }))
    let result = Given.measurements([.peakRSS: Given.values(120)], in: newer).judged(against: .baseline(baseline))
    let difference = Fingerprint.Difference(field: .kernel, baseline: "6.1", current: "6.18")
    #expect(
      result.notes.first == .environmentChanged(differences: [difference]),
      "the likeliest cause of a change comes first")
  }

  @Test("If the scenario passes, a changed environment is the last note")
  func otherVariables() {
    let changed = Given.environment { $0.variables = "DEBUG" }
    let result = Given.measurements([.peakRSS: Given.values(100)], in: changed)
      .judged(against: .baseline(Given.baseline([.peakRSS: Given.values(100)])))
    let difference = Fingerprint.Difference(field: .variables, baseline: "", current: "DEBUG")
    #expect(result.notes.count > 1 && result.notes.last == .environmentChanged(differences: [difference]))
  }

  @Test("With the default gate, a program that never becomes steady passes with a note")
  func neverSteady() {
    let baseline = Given.baseline([.peakRSS: Given.values(100)])
    let result = Given.measurements([.peakRSS: Given.values(100)]).judged(against: .baseline(baseline))
    #expect(result.verdict == .pass)
    #expect(result.notes == [.baselineSeldomSteady(metric: .steadyRSS, count: 0, total: 5)])
    let withoutBaseline = Given.measurements([.peakRSS: Given.values(100)]).judged(against: .missing)
    #expect(withoutBaseline.notes == [.notJudged(metric: .steadyRSS, cause: .neverSteady(steadiness: .unsteady))])
  }

  @Test("A program that was steady before but is not now is inconclusive")
  func noLongerSteady() {
    let baseline = Given.baseline([.peakRSS: Given.values(100), .steadyRSS: Given.values(90)])
    let result = Given.measurements([.peakRSS: Given.values(100)]).judged(against: .baseline(baseline))
    #expect(result.verdict == .inconclusive)
  }

  @Test(
    "The default gate ignores a steady level that several baseline repetitions lack, with a note",
    arguments: [(5, 5, false), (4, 5, true), (1, 5, true), (9, 10, false), (8, 10, true)]
  )
  func halfSteadyBaseline(steady: Int, of all: Int, isLeftOut: Bool) {
    let baseline = Given.baseline([
      .peakRSS: Given.values(100, count: all), .steadyRSS: Given.values(90, count: steady),
    ])
    let unsteady = Given.measurements([.peakRSS: Given.values(100)]).judged(against: .baseline(baseline))
    #expect(unsteady.verdict == (isLeftOut ? .pass : .inconclusive))
    let higher = Given.measurements([.peakRSS: Given.values(100), .steadyRSS: Given.values(99)])
      .judged(against: .baseline(baseline))
    #expect(higher.verdict == (isLeftOut ? .pass : .regression))
    let note = Note.baselineSeldomSteady(metric: .steadyRSS, count: steady, total: all)
    #expect(higher.notes.contains(note) == isLeftOut)
    let lost = Note.metricLost(metric: .steadyRSS, before: steady, ofBefore: all, now: 0, ofNow: 5)
    #expect(unsteady.notes.contains(steady == 8 ? lost : note) == isLeftOut)
  }

  @Test("An unavailable metric has the number of repetitions that have it")
  func steadyInSome() {
    let baseline = Given.baseline([.peakRSS: Given.values(100), .steadyRSS: Given.values(90)])
    let current: [MetricName: [Double?]] = [.peakRSS: Given.values(100), .steadyRSS: [1, 2, nil, nil, nil]]
    let metrics = Given.measurements(current).judged(against: .baseline(baseline)).metrics
    let reasons = metrics.map(\.reason)
    #expect(metrics.map(\.isUndecided) == [false, true], "with more repetitions most may have it")
    #expect(reasons.last == .unavailable(cause: .seldomSteady(in: 2, of: 5)))
  }

  @Test("If no repetition was steady, the most frequent cause is the reason")
  func mostFrequentCause() {
    let baseline = Given.baseline([.peakRSS: Given.values(100), .steadyRSS: Given.values(90)])
    var measurements = Given.measurements([.peakRSS: Given.values(100)])
    func reason(_ states: [Steadiness?]) -> VerdictReason? {
      for (index, state) in states.enumerated() { measurements.repetitions[index].steadiness = state }
      return measurements.judged(against: .baseline(baseline)).metrics.last?.reason
    }
    #expect(
      reason([.drifting, .tooShort, .drifting, nil, nil]) == .unavailable(cause: .neverSteady(steadiness: .drifting)))
    #expect(
      reason([.tooShort, .tooShort, .tooShort, .tooShort, nil])
        == .unavailable(cause: .neverSteady(steadiness: .tooShort)))
    #expect(reason([nil, nil, nil, nil, nil]) == .unavailable(cause: .neverSteady(steadiness: .unsteady)))
  }

  @Test("An unavailable metric with a gate rule is inconclusive")
  func namedMetric() {
    let gate = Gate(rules: [
      GateRule(metric: .phase("load", .peakRSS), tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)))
    ])
    let result = Given.measurements([.peakRSS: Given.values(100)], gate: gate)
      .judged(against: .baseline(Given.baseline([.peakRSS: Given.values(100)])))
    #expect(result.verdict == .inconclusive)
    #expect(result.metrics.first?.reason == .unavailable(cause: .noPhaseStarted))
  }

  @Test("The reason for a missing phase metric is that the phase is unknown, rare, too short or never steady")
  func phases() {
    func reason(_ metric: MetricName, phases: [[String: [MetricName: Double]]]) -> VerdictReason? {
      let gate = Gate(rules: [
        GateRule(metric: metric, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)))
      ])
      var measured = Given.measurements([.peakRSS: Given.values(100, count: phases.count)], gate: gate)
      for (index, phases) in phases.enumerated() {
        measured.repetitions[index].phases = phases.map { .init(name: $0, metrics: $1) }
      }
      return measured.judged(against: .missing).metrics.first?.reason
    }
    let (load, steady) = (MetricName.phase("load", .peakRSS), MetricName.phase("load", .steadyRSS))
    let other: [String: [MetricName: Double]] = ["loda": [.peakRSS: 1], "serve": [:]]
    #expect(
      reason(load, phases: [other, other])
        == .unavailable(cause: .phaseNotStarted(started: ReportedNames(["loda", "serve"], missing: "load"))))
    #expect(ReportedNames(["loda", "serve"], missing: "load").nearest == "loda")
    #expect(
      reason(load, phases: [["load": [.peakRSS: 1]], other]) == .unavailable(cause: .phaseSeldomStarted(in: 1, of: 2)))
    #expect(
      reason(load, phases: [["load": [:]], ["load": [:]]]) == .unavailable(cause: .phaseSeldomRead(in: 0, of: 2)))
    #expect(
      reason(steady, phases: [["load": [.steadyRSS: 1]], ["load": [.peakRSS: 1]]])
        == .unavailable(cause: .phaseSeldomSteady(in: 1, of: 2)))
  }

  @Test("A metric at `warn` is judged but does not count, and a metric at `off` is not judged")
  func severity() {
    let gate = Gate(rules: [
      GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)), severity: .warn),
      GateRule(metric: .treePeak, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)), severity: .off),
    ])
    let result = Given.measurements([.peakRSS: Given.values(200), .treePeak: Given.values(900)], gate: gate)
      .judged(against: .baseline(Given.baseline([.peakRSS: Given.values(100), .treePeak: Given.values(100)])))
    #expect(result.verdict == .pass)
    #expect(result.metrics.map(\.verdict) == [.regression])
    #expect(result.ungated.map(\.metric) == [.treePeak])
    let off = Gate(rules: [
      GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)), severity: .off)
    ])
    let nothing = Given.measurements([.peakRSS: Given.values(200)], gate: off).judged(against: .missing)
    #expect(nothing.verdict == .skipped && nothing.notes == [.nothingJudged])
  }

  @Test("A failed repetition fails the scenario; a kill by an unknown sender is inconclusive")
  func failures() {
    var measurements = Given.measurements([.peakRSS: Given.values(100)])
    measurements.failure = Given.failure(End(.crash, signal: .segv))
    #expect(measurements.judged(against: .missing).verdict == .failed)
    measurements.failure = Given.failure(End(.killed, signal: .kill))
    let killed = measurements.judged(against: .missing)
    #expect(killed.verdict == .inconclusive && killed.judged(against: .missing) == killed)
  }

  @Test("An unmeasured metric without a baseline is no-baseline, or inconclusive if that is allowed")
  func unmeasured() {
    let repetition = RepetitionResult(end: End(.exited, code: 0), duration: .zero, processes: 1, metrics: [:])
    var measurements = Given.measurements([:])
    measurements.repetitions = [repetition]
    let result = measurements.judged(against: .missing)
    #expect(result.verdict == .noBaseline && result.metrics.map(\.reason) == [.unavailable(cause: .tooFewReadings)])
    #expect(measurements.judged(against: .missing, allowsMissingBaseline: true).verdict == .inconclusive)
    let baseline = Given.baseline([.peakRSS: Given.values(100)])
    #expect(measurements.judged(against: .baseline(baseline)).verdict == .inconclusive)
  }

  @Test("A result without counted repetitions never passes")
  func vacuous() {
    let baseline = Given.baseline([.peakRSS: Given.values(100)])
    let result = Given.measurements([:]).judged(against: .baseline(baseline))
    #expect(result.verdict == .inconclusive && result.notes == [.noRepetitions])
  }

  @Test(
    "The run's verdict is the first in order of precedence",
    arguments: [
      ([Verdict.pass, .regression, .failed], Verdict.regression, ExitCode.regression),
      ([.noBaseline, .failed], .failed, .failed),
      ([.inconclusive, .noBaseline, .pass], .noBaseline, .noBaseline),
      ([.pass, .inconclusive, .improved], .inconclusive, .inconclusive),
      ([.pass, .improved], .improved, .pass),
      ([.skipped, .pass], .pass, .pass),
    ]
  )
  func precedence(verdicts: [Verdict], whole: Verdict, code: ExitCode) {
    #expect(Verdict.combined(verdicts) == whole)
    #expect(whole.exitCode == code)
    #expect(Verdict.combined([]) == nil)
  }

  @Test("A result passes against its own baseline, which has the same values")
  func roundTrip() {
    let measurements = Given.measurements([.peakRSS: Given.values(100, step: 0.01), .growth: Given.values(0)])
    let result = measurements.judged(against: .missing)
    let baseline = Baseline(of: result, approval: Given.approval)
    #expect(baseline.metrics[.peakRSS] == Given.values(100, step: 0.01))
    #expect(result.judged(against: .baseline(baseline)).verdict == .pass)
    #expect(ScenarioMeasurement(of: baseline).repetitions.map { $0.metrics[.peakRSS] } == Given.values(100, step: 0.01))
  }

  @Test("Judging again replaces the verdict and keeps the notes of the measurement")
  func judgedAgain() {
    let other = Fingerprint.Difference(field: .kernel, baseline: "6.1", current: "6.18")
    let environment = Given.environment { $0.kernel = "6.18" }
    var measured = Given.measurements([.peakRSS: Given.values(120), .spike: Given.values(1)], in: environment)
    measured.notes = [.comparedWithBuild(build: "old")]
    let baseline = Given.baseline([.peakRSS: Given.values(100)])
    let first = measured.judged(against: .baseline(baseline))
    let expected: [Note] = [
      .environmentChanged(differences: [other]), .comparedWithBuild(build: "old"),
      .baselineSeldomSteady(metric: .steadyRSS, count: 0, total: 5),
    ]
    #expect(first.notes == expected && first.approval == Given.approval && first.reference != nil)
    #expect(first.judged(against: .baseline(baseline)) == first)
    let without = first.judged(against: .missing)
    #expect(without == measured.judged(against: .missing))
    #expect(without.approval == nil && without.reference == nil && without.metrics.count == 1)
  }

  @Test("A result has everything that was measured")
  func completeness() throws {
    let bytes = Bytes.mebibytes(1)
    var measured = Given.measurements([.peakRSS: Given.values(100)])
    measured.tags = ["nightly"]
    measured.definition =
      Scenario(
        name: measured.name, target: Target(command: .shell("true"), workingDirectory: "/")
      ).definition
    measured.growthIsPerIteration = true
    measured.composition = Composition(anonymous: bytes, file: .zero, shared: .zero)
    measured.compositionAtPeak = Composition(anonymous: bytes, file: bytes, shared: .zero)
    measured.instances = InstanceCounts(refusal: .notLoaded)
    measured.limitedRun = LimitedRun(limit: bytes, outcome: .survived, duration: .seconds(1))
    measured.failure = Given.failure(End(.crash, signal: .segv))
    measured.notes = [.comparedWithBuild(build: "old")]
    measured.plan = RepetitionPlan(min: 5, max: 20)
    measured.times.target = .seconds(1)
    let result = measured.judged(against: .missing)
    let fields = [Mirror(reflecting: result), Mirror(reflecting: result.summary)].flatMap(\.children)
    for (name, value) in Mirror(reflecting: measured).children {
      #expect("\(value)" != "nil", "\(name ?? "") is not given")
      #expect(fields.first { $0.label == name }.map { "\($0.value)" } == "\(value)", "\(name ?? "")")
    }
  }

  @Test("The summary for the history follows from the repetitions and the gate")
  func summary() throws {
    var measured = Given.measurements([
      .peakRSS: Given.values(100), .spike: [1, 2, nil, nil, nil], .growth: [7, 5, 6, 8, 4],
    ])
    measured.repetitions[1].end = End(.oom, signal: .kill, oomKills: 1)
    measured.repetitions[3].events = [TargetEvent(.loop(name: "A.b", calls: 100, turns: 1), at: .zero)]
    let summary = measured.judged(against: .missing).summary
    #expect(summary.repetitionCount == 5)
    #expect(summary.metrics.map(\.metric) == [.peakRSS] && summary.ungated.map(\.metric) == [.growth, .spike])
    let growth = try #require(summary[.growth])
    #expect(growth.current == ValueSummary(median: 6, count: 5, range: 4...8) && growth.unit == "bytes/second")
    #expect(growth.verdict == .skipped && !growth.isGated)
    #expect(summary[.spike]?.current?.count == 2)
    #expect(summary.failedRepetitions.map(\.number) == [2, 4])
    #expect(summary.failedRepetitions.map(\.loop) == [nil, .loop(name: "A.b", calls: 100, turns: 1)])
    #expect(summary.allMetrics.map(\.metric) == [.peakRSS, .growth, .spike])
  }

  @Test(
    "An exit or a signal counts as a failed repetition only if the scenario failed",
    arguments: [
      (End(.exited, code: 0), false, false), (End(.exited, code: 1), false, true),
      (End(.signaled, signal: .hup), false, true), (End(.stopped, signal: .term), false, false),
      (End(.crash, signal: .segv), true, true), (End(.exited, code: 0, oomKills: 1), true, true),
    ]
  )
  func failedEnds(end: End, isBad: Bool, isBadInFailedScenario: Bool) {
    var measured = Given.measurements([.peakRSS: [1]])
    measured.repetitions[0].end = end
    #expect(measured.judged(against: .missing).failedRepetitions.isEmpty == !isBad)
    measured.failure = Given.failure(end)
    #expect(measured.judged(against: .missing).failedRepetitions.isEmpty == !isBadInFailedScenario)
  }
}

@Suite("Names")
struct NameTests {
  @Test(
    "A name becomes one safe path component",
    arguments: [
      ("redis-load", "redis-load"), ("load[clients=1]", "load[clients=1]"), ("../../x", "%2E.%2F..%2Fx"),
      ("..", "%2E."), ("a/b", "a%2Fb"), ("a b\u{0}", "a%20b%00"), (".hidden", "%2Ehidden"),
    ]
  )
  func pathComponent(name: String, expected: String) {
    #expect(ScenarioName(name).pathComponent == expected)
  }

  @Test("Long names stay below the limit of file names, and stay distinct")
  func longNames() {
    let (one, other) = (String(repeating: "x", count: 300) + "1", String(repeating: "x", count: 300) + "2")
    #expect(FileName.component(for: one).utf8.count <= 160)
    #expect(FileName.component(for: one) != FileName.component(for: other))
    #expect(!FileName.component(for: "").isEmpty)
  }

  @Test(
    "Addresses are printed without credentials and query",
    arguments: [
      ("https://ann:pw@example.org/x?token=1#f", "https://example.org/x"),
      ("http://127.0.0.1:80/a@b", "http://127.0.0.1:80/a@b"), ("nonsense", "nonsense"),
      ("http://a@b@host/p", "http://host/p"),
    ]
  )
  func addresses(url: String, shown: String) {
    #expect(ShownURL.withoutCredentials(url) == shown)
  }

  @Test("Run IDs are version 7 UUIDs that sort by time")
  func runIdentifiers() {
    var random = SystemRandomNumberGenerator()
    let early = RunIdentifier.make(at: Date(timeIntervalSince1970: 1_700_000_000), random: &random)
    let late = RunIdentifier.make(at: Date(timeIntervalSince1970: 1_700_000_001), random: &random)
    #expect(early.contains(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/))
    #expect(early < late)
  }

  @Test(
    "A clock that is set to any time gives one that files can have", arguments: [-1e300, -1, 1e12, 1e300, .infinity])
  func clock(seconds: Double) {
    let time = Date(timeIntervalSince1970: seconds).inFileYears
    #expect(["1970-01-01", "9999-12-31"].contains(time.day))
    var random = SystemRandomNumberGenerator()
    #expect(RunIdentifier.make(at: time, random: &random).count == 36)
  }

  @Test("The environment's name follows from its hard fields")
  func environmentName() {
    #expect(Given.environment().name == "linux-x86_64-2cpu-sampled")
    #expect(Given.environment { $0.aslr = "on" }.name == "linux-x86_64-2cpu-sampled-aslr")
    #expect(Given.environment { $0.memoryLimit = .mebibytes(1) }.name == "linux-x86_64-2cpu-sampled-limit1MiB")
    #expect(Given.environment { $0.pageSize = 16384 }.name == "linux-x86_64-2cpu-sampled-page16KiB")
    #expect(Given.fingerprint.derivedName(ignoring: [.cpus]) == "linux-x86_64-sampled")
    for method in [MeasurementMethod.traced, .tracedInCgroup] {
      #expect(Given.environment { $0.measurement = method.rawValue }.name == "linux-x86_64-2cpu")
    }
  }
}
