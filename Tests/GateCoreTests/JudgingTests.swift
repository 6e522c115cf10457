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
      metrics: metrics, composition: nil,
      approved: Baseline.Approval(
        at: Date(timeIntervalSince1970: 0), by: "ann", commit: nil, reason: nil, run: "0"
      )
    )
  }

  static func measurements(
    _ metrics: [MetricName: [Double?]],
    gate: Gate = .standard,
    in environment: EnvironmentInfo = environment()
  ) -> ScenarioMeasurements {
    let count = metrics.values.map(\.count).max() ?? 0
    let repetitions = (0..<count).map { index in
      RepetitionResult(
        end: End(.exited, code: 0), duration: .seconds(1), processes: 1,
        metrics: metrics.compactMapValues { $0[index] }
      )
    }
    return ScenarioMeasurements(
      name: ScenarioName("load"), environment: environment, gate: gate, repetitions: repetitions
    )
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
    tolerance: Tolerance = .standard
  ) -> Verdict {
    let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: tolerance)])
    return Given.measurements([.peakRSS: current], gate: gate)
      .judged(against: .baseline(Given.baseline([.peakRSS: baseline]))).verdict
  }

  @Test("The larger of the two tolerances counts, its bound passes, and a byte more fails")
  func tolerance() {
    let (small, large) = (Array(repeating: 2e6, count: 5), Array(repeating: 1e9, count: 5))
    #expect(verdict(small.map { $0 + 524_288 }, small) == .pass)
    #expect(verdict(small.map { $0 + 524_289 }, small) == .regression)
    #expect(verdict(large.map { $0 + 30_000_000 }, large) == .pass)
    #expect(verdict(large.map { $0 + 30_000_001 }, large) == .regression)
    #expect(verdict(small.map { $0 + 131_073 }, small, tolerance: .automatic) == .regression)
    #expect(verdict(small.map { $0 + 131_072 }, small, tolerance: .automatic) == .pass)
  }

  @Test("A fall beyond the tolerance is an improvement")
  func improvement() {
    #expect(verdict(Given.values(80), Given.values(100)) == .improved)
    #expect(verdict(Given.values(98), Given.values(100)) == .pass)
  }

  @Test("Repetitions that differ by more than the tolerance leave a small rise undecided and a large one clear")
  func noise() {
    let noisy = Given.values(100, count: 10, step: 2)
    #expect(verdict(noisy.map { $0 + 4e6 }, noisy) == .inconclusive)
    #expect(verdict(noisy, noisy) == .inconclusive)
    #expect(verdict(noisy.map { $0 + 40e6 }, noisy) == .regression)
    #expect(verdict(noisy.map { $0 - 40e6 }, noisy) == .improved)
  }

  @Test("One outlier in ten repetitions changes no verdict")
  func outlier() {
    var current = Given.values(100, count: 10)
    current[3] *= 3
    #expect(verdict(current, Given.values(100, count: 10)) == .pass)
  }

  @Test("The change, its interval, the tolerance and what could have been seen stand in the result")
  func figures() throws {
    let result = Given.measurements([.peakRSS: Given.values(110)])
      .judged(against: .baseline(Given.baseline([.peakRSS: Given.values(100)])))
    let metric = try #require(result.metrics.first)
    #expect(metric.change?.absolute == 10_485_760.0)
    #expect(metric.change?.percent == 10)
    #expect(metric.change.map { $0.low...$0.high } == 10_485_760.0...10_485_760.0)
    #expect(metric.allowed == 3_145_728.0)
    // A page is the least deviation: 1.28 × 4096 × √(1/5 + 1/5) beside the tolerance.
    #expect(metric.detectable.map { ($0 - 3_145_728).rounded() } == 3316)
    #expect(metric.resolution.map { $0.rounded() } == 12_694)
    #expect(metric.method == .ranks && metric.chance.map { ($0 * 252).rounded() } == 1)
    #expect(metric.reason == "peak_rss rose by 10.0 MiB, and 3.0 MiB are tolerated")
    #expect(result.verdict == .regression)
  }

  @Test("A limit is judged without a baseline, and one metric above it fails the scenario")
  func limit() {
    let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: nil, limit: .mebibytes(100))])
    let within = Given.measurements([.peakRSS: Given.values(100)], gate: gate)
    #expect(within.judged(against: .missing).verdict == .pass)
    let above = Given.measurements([.peakRSS: Given.values(100.1)], gate: gate)
    #expect(above.judged(against: .missing).verdict == .regression)
  }

  @Test("Without a baseline the verdict is no-baseline, unless that was allowed")
  func missingBaseline() {
    let measurements = Given.measurements([.peakRSS: Given.values(100)])
    #expect(measurements.judged(against: .missing).verdict == .noBaseline)
    #expect(measurements.judged(against: .missing, allowsMissingBaseline: true).verdict == .skipped)
  }

  @Test("A baseline of another environment is named, with the fields that differ")
  func otherEnvironment() {
    let environment = Given.environment { $0.cpus = 4 }
    let differences = environment.fingerprint.differences(fromBaseline: Given.fingerprint)
    let result = Given.measurements([.peakRSS: Given.values(100)], in: environment)
      .judged(against: .otherEnvironment(name: "linux-x86_64-2cpu-sampled", differences: differences))
    #expect(result.verdict == .noBaseline)
    #expect(result.notes.contains { $0.contains("cpus 2 → 4") })
  }

  @Test("Hard fields forbid a comparison unless they are ignored; soft ones are a note")
  func hardAndSoft() {
    let baseline = Given.baseline([.peakRSS: Given.values(100)])
    let more = Given.environment { $0.cpus = 4 }
    #expect(!baseline.isComparable(to: more))
    var lenient = more
    lenient.ignoredFields = [.cpus]
    #expect(baseline.isComparable(to: lenient))
    let newer = Given.environment { $0.kernel = "6.18" }
    #expect(baseline.isComparable(to: newer))
    let result = Given.measurements([.peakRSS: Given.values(120)], in: newer).judged(against: .baseline(baseline))
    #expect(result.notes.first == "the environment is not the baseline's (baseline → here): kernel 6.1 → 6.18")
  }

  @Test("That the target's variables differ is told in words, since their hash says nothing")
  func otherVariables() {
    let changed = Given.environment { $0.environmentHash = "00f1a2b3c4d5e6f7" }
    let result = Given.measurements([.peakRSS: Given.values(100)], in: changed)
      .judged(against: .baseline(Given.baseline([.peakRSS: Given.values(100)])))
    let words = "the target's environment variables are others"
    #expect(result.notes.last == "the environment is not the baseline's (baseline → here): \(words)")
  }

  @Test("Where no gate is written, a program that never gets steady is told so and not failed")
  func neverSteady() {
    let baseline = Given.baseline([.peakRSS: Given.values(100)])
    let result = Given.measurements([.peakRSS: Given.values(100)]).judged(against: .baseline(baseline))
    #expect(result.verdict == .pass)
    #expect(result.notes.contains { $0.hasPrefix("steady_rss is not judged") })
  }

  @Test("A program that was steady and no longer is, is inconclusive")
  func noLongerSteady() {
    let baseline = Given.baseline([.peakRSS: Given.values(100), .steadyRSS: Given.values(90)])
    let result = Given.measurements([.peakRSS: Given.values(100)]).judged(against: .baseline(baseline))
    #expect(result.verdict == .inconclusive)
  }

  @Test(
    "A baseline whose repetitions were not nearly all steady is not one of a steady program, and is told so",
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
    let note = "steady_rss is not judged: only \(steady) of the baseline's \(all) repetitions became steady"
    #expect([unsteady, higher].allSatisfy { $0.notes.contains(note) == isLeftOut })
  }

  @Test("A metric that cannot be had tells in how many repetitions it was")
  func steadyInSome() {
    let baseline = Given.baseline([.peakRSS: Given.values(100), .steadyRSS: Given.values(90)])
    let current: [MetricName: [Double?]] = [.peakRSS: Given.values(100), .steadyRSS: [1, 2, nil, nil, nil]]
    let metrics = Given.measurements(current).judged(against: .baseline(baseline)).metrics
    let reasons = metrics.map(\.reason)
    #expect(metrics.map(\.isUndecided) == [false, true], "most of more repetitions may have it")
    let extent = "resident memory only in 2 of 5 repetitions became steady"
    #expect(reasons.last == "cannot be had: \(extent); a longer scenario may show it")
  }

  @Test("A metric that a gate names and that cannot be had is inconclusive")
  func namedMetric() {
    let gate = Gate(rules: [GateRule(metric: .phase("load", .peakRSS), tolerance: .standard)])
    let result = Given.measurements([.peakRSS: Given.values(100)], gate: gate)
      .judged(against: .baseline(Given.baseline([.peakRSS: Given.values(100)])))
    #expect(result.verdict == .inconclusive)
    #expect(result.metrics.first?.reason.contains("no phase was started") == true)
  }

  @Test("A metric at `warn` is judged and does not count, and one at `off` is not judged")
  func severity() {
    let gate = Gate(rules: [
      GateRule(metric: .peakRSS, tolerance: .standard, severity: .warn),
      GateRule(metric: .treePeak, tolerance: .standard, severity: .off),
    ])
    let result = Given.measurements([.peakRSS: Given.values(200), .treePeak: Given.values(900)], gate: gate)
      .judged(against: .baseline(Given.baseline([.peakRSS: Given.values(100), .treePeak: Given.values(100)])))
    #expect(result.verdict == .pass)
    #expect(result.metrics.map(\.verdict) == [.regression])
  }

  @Test("A failed repetition fails the scenario, and one killed by an unknown hand leaves it undecided")
  func failures() {
    var measurements = Given.measurements([.peakRSS: Given.values(100)])
    measurements.failure = Failure(subject: "repetition 2", problem: "crash (SIGSEGV)")
    #expect(measurements.judged(against: .missing).verdict == .failed)
    measurements.wasKilled = true
    #expect(measurements.judged(against: .missing).verdict == .inconclusive)
  }

  @Test("What was not measured is no-baseline where there is none, and inconclusive where that was allowed")
  func unmeasured() {
    let repetition = RepetitionResult(end: End(.exited, code: 0), duration: .zero, processes: 1, metrics: [:])
    var measurements = Given.measurements([:])
    measurements.repetitions = [repetition]
    #expect(measurements.judged(against: .missing).verdict == .noBaseline)
    #expect(measurements.judged(against: .missing, allowsMissingBaseline: true).verdict == .inconclusive)
    let baseline = Given.baseline([.peakRSS: Given.values(100)])
    #expect(measurements.judged(against: .baseline(baseline)).verdict == .inconclusive)
  }

  @Test("No counted repetition never reads as pass")
  func vacuous() {
    let baseline = Given.baseline([.peakRSS: Given.values(100)])
    let result = Given.measurements([:]).judged(against: .baseline(baseline))
    #expect(result.verdict == .inconclusive)
  }

  @Test(
    "The whole run's verdict is the first in order of precedence",
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
  }

  @Test("A baseline made of a result judges that result as pass, with the same figures")
  func roundTrip() {
    let measurements = Given.measurements([.peakRSS: Given.values(100, step: 0.01), .growth: Given.values(0)])
    let result = measurements.judged(against: .missing)
    let baseline = Baseline(
      of: result,
      approved: .init(at: Date(timeIntervalSince1970: 0), by: "ann", commit: nil, reason: nil, run: "1")
    )
    #expect(baseline.metrics[.peakRSS] == Given.values(100, step: 0.01))
    #expect(ScenarioMeasurements(of: result) == measurements)
    #expect(ScenarioMeasurements(of: result).judged(against: .baseline(baseline)).verdict == .pass)
    #expect(
      ScenarioMeasurements(of: baseline).repetitions.map { $0.metrics[.peakRSS] } == Given.values(100, step: 0.01))
  }
}

@Suite("Names")
struct NameTests {
  @Test(
    "A name becomes one harmless component of a path",
    arguments: [
      ("redis-load", "redis-load"), ("load[clients=1]", "load[clients=1]"), ("../../x", "%2E.%2F..%2Fx"),
      ("..", "%2E."), ("a/b", "a%2Fb"), ("a b\u{0}", "a%20b%00"), (".hidden", "%2Ehidden"),
    ]
  )
  func pathComponent(name: String, expected: String) {
    #expect(ScenarioName(name).pathComponent == expected)
  }

  @Test("Long names stay below the limit of file names and stay different")
  func longNames() {
    let (one, other) = (String(repeating: "x", count: 300) + "1", String(repeating: "x", count: 300) + "2")
    #expect(FileName.component(for: one).utf8.count <= 160)
    #expect(FileName.component(for: one) != FileName.component(for: other))
    #expect(!FileName.component(for: "").isEmpty)
  }

  @Test(
    "Addresses are shown without credentials and query",
    arguments: [
      ("https://ann:pw@example.org/x?token=1#f", "https://example.org/x"),
      ("http://127.0.0.1:80/a@b", "http://127.0.0.1:80/a@b"), ("nonsense", "nonsense"),
      ("http://a@b@host/p", "http://host/p"),
    ]
  )
  func addresses(url: String, shown: String) {
    #expect(ShownURL.withoutCredentials(url) == shown)
  }

  @Test("Ids of runs are UUIDs of version 7 that sort by time")
  func runIdentifiers() {
    var random = SystemRandomNumberGenerator()
    let early = RunIdentifier.make(at: Date(timeIntervalSince1970: 1_700_000_000), random: &random)
    let late = RunIdentifier.make(at: Date(timeIntervalSince1970: 1_700_000_001), random: &random)
    #expect(early.contains(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/))
    #expect(early < late)
  }

  @Test("The environment's name follows from its hard fields")
  func environmentName() {
    #expect(Given.environment().name == "linux-x86_64-2cpu-sampled")
    #expect(Given.environment { $0.aslr = "on" }.name == "linux-x86_64-2cpu-sampled-aslr")
    #expect(Given.environment { $0.memoryLimit = .mebibytes(1) }.name == "linux-x86_64-2cpu-sampled-limit1048576")
    #expect(Given.fingerprint.derivedName(ignoring: [.cpus]) == "linux-x86_64-sampled")
  }
}
