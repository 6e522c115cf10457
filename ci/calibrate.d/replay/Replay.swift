package import GateCore
import FoundationEssentials

/// Highwater's own rules, applied to given values.
package struct Replay: Sendable {
  package let gate: Gate
  package let repetitions: Repetitions
  package let growthIsPerIteration: Bool

  package init(gate: Gate, repetitions: Repetitions, growthIsPerIteration: Bool = false) {
    (self.gate, self.repetitions, self.growthIsPerIteration) = (gate, repetitions, growthIsPerIteration)
  }

  /// One metric at a tolerance.
  package init(_ repetitions: Repetitions = Defaults.repetitions, tolerance: Tolerance = Defaults.written) {
    self.init(gate: Gate(rules: [GateRule(metric: .peakRSS, tolerance: tolerance)]), repetitions: repetitions)
  }

  /// The maximum number of repetitions of a comparison.
  package var most: Int { repetitions.plan.max }

  /// Judges one metric's values, using as many of `current` as the rules ask for.
  package func result(_ baseline: [Double], _ current: [Double]) -> ScenarioResult {
    result([.peakRSS: baseline], current.map { Self.repetition([.peakRSS: $0]) })
  }

  /// Judges whole repetitions, using as many of `current` as the rules ask for; it has the maximum number.
  package func result(_ baseline: [MetricName: [Double]], _ current: [RepetitionResult]) -> ScenarioResult {
    var rest = current[...]
    return result(baseline) { rest.popFirst() ?? Self.repetition([:]) }
  }

  /// Judges measurements, which are made as long as the rules ask for more.
  package func result(_ baseline: [MetricName: [Double]], measuring: () -> RepetitionResult) -> ScenarioResult {
    result(against: Self.baseline(baseline), measuring: measuring)
  }

  /// The same against a whole baseline, with as many measurements as an approval needs, or a verdict.
  package func result(
    against baseline: Baseline, forApproval isForApproval: Bool = false, measuring: () -> RepetitionResult
  ) -> ScenarioResult {
    let plan = repetitions.plan
    var measured = unmeasured
    measured.plan = plan
    var count = plan.min
    while true {
      while measured.repetitions.count < count { measured.repetitions.append(measuring()) }
      let result = measured.judged(against: .baseline(baseline))
      let more = isForApproval ? plan.countForApproval(after: result, of: baseline) : nil
      guard let next = plan.nextLook(after: result) ?? more else { return result }
      count = next
    }
  }

  /// The first baseline, of as many measurements as the rules ask for.
  package func newBaseline(measuring: () -> RepetitionResult) -> Baseline {
    var measured = unmeasured
    var count = repetitions.countForBaseline
    while true {
      while measured.repetitions.count < count { measured.repetitions.append(measuring()) }
      let result = measured.judged(against: .missing)
      guard let next = repetitions.countForBaseline(after: result) else { return Baseline(of: result) }
      count = next
    }
  }

  private var unmeasured: ScenarioMeasurement {
    ScenarioMeasurement(
      name: Self.name, environment: Self.environment, gate: gate, growthIsPerIteration: growthIsPerIteration)
  }

  /// Whether the default gate reports a leak, after the minimum number of repetitions.
  package static func reportsLeak(_ repetitions: [RepetitionResult]) -> Bool {
    ScenarioMeasurement(name: name, environment: environment, repetitions: repetitions).judged(against: .missing)
      .noteOnUngatedGrowth != nil
  }

  package static func repetition(_ metrics: [MetricName: Double]) -> RepetitionResult {
    RepetitionResult(end: End(.exited, code: 0), duration: .seconds(1), processes: 1, metrics: metrics)
  }

  private static let name = ScenarioName("replayed")

  private static let environment = EnvironmentInfo(
    name: "replayed",
    fingerprint: Fingerprint(
      architecture: "any", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "traced", kernel: "any",
      libc: "any"
    )
  )

  package static func baseline(_ metrics: [MetricName: [Double]]) -> Baseline {
    Baseline(
      scenario: name, environment: environment.name, fingerprint: environment.fingerprint, metrics: metrics)
  }
}

/// The results of many comparisons.
package struct Tally: Sendable, Equatable {
  private var counts: [Verdict: Int] = [:]
  private var runs = 0
  package private(set) var count = 0

  package init() {}

  package mutating func add(_ result: ScenarioResult) {
    add(result.verdict, runs: result.repetitions.count)
  }

  package mutating func add(_ verdict: Verdict, runs: Int) {
    counts[verdict, default: 0] += 1
    self.runs += runs
    count += 1
  }

  package func count(of verdict: Verdict) -> Int {
    counts[verdict] ?? 0
  }

  /// The share of a verdict in percent.
  package func percent(_ verdict: Verdict) -> Double {
    count == 0 ? 0 : 100 * Double(count(of: verdict)) / Double(count)
  }

  package var meanRuns: Double {
    count == 0 ? 0 : Double(runs) / Double(count)
  }

  package static func + (one: Tally, other: Tally) -> Tally {
    var sum = one
    sum.counts.merge(other.counts, uniquingKeysWith: +)
    sum.runs += other.runs
    sum.count += other.count
    return sum
  }
}

/// Many comparisons of one kind.
package struct Experiment: Sendable {
  package var noise: Noise
  package var baseline: Int
  package var replay: Replay
  /// In bytes.
  package var level = 58.4e6
  /// The later values are this many times as high as the baseline.
  package var factor = 1.0
  package var trials = Defaults.trials

  package init(
    _ noise: Noise,
    baseline: Int = Defaults.baseline,
    _ replay: Replay = Replay(),
    level: Double = 58.4e6,
    factor: Double = 1,
    trials: Int = Defaults.trials
  ) {
    (self.noise, self.baseline, self.replay) = (noise, baseline, replay)
    (self.level, self.factor, self.trials) = (level, factor, trials)
  }

  /// All rules get the same values, which depend only on the noise, the level and the size of the baseline.
  private var seed: String { "\(noise.name), \(level), \(baseline)" }

  package func tally() -> Tally {
    var chance = Chance(for: seed)
    var tally = Tally()
    for _ in 0..<trials {
      let (before, now) = noise.values(baseline, Defaults.most, level: level, factor: factor, &chance)
      tally.add(replay.result(before, now))
    }
    return tally
  }
}
