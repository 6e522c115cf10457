import Statistics
import Testing

@testable import GateCore

@Suite("Adaptive repetition counts")
struct RepetitionPlanTests {
  @Test(
    "The counts double from minimum to maximum",
    arguments: [
      (5, 20, [5, 10, 20]), (5, 5, [5]), (3, 10, [3, 6, 10]), (5, 7, [5, 7]), (1, 40, [1, 2, 4, 8, 16, 32, 40]),
      (8, 2, [8]),
    ]
  )
  func looks(min: Int, max: Int, expected: [Int]) {
    #expect(RepetitionPlan(min: min, max: max).looks == expected)
  }

  @Test("The looks share a significance level of 0.01; the first can already decide 5 values against 5")
  func alphas() {
    let plan = RepetitionPlan(min: 5, max: 20)
    let alphas = plan.looks.map { plan.alpha(at: $0, against: 5) }
    #expect(alphas.map { ($0 * 1000).rounded() } == [4, 3, 3])
    #expect(RankTest.smallestPValue(5, 5) <= alphas[0])
    #expect(RepetitionPlan(min: 10, max: 10).alpha(at: 10, against: 5) == 0.01)
  }

  @Test("A share of the level that too few values cannot use goes to the next look")
  func carried() {
    let plan = RepetitionPlan(min: 3, max: 12)
    #expect(RankTest.smallestPValue(3, 5) > plan.alpha(at: 3, against: 5))
    #expect((plan.alpha(at: 6, against: 5) * 1000).rounded() == 7)
    #expect((plan.alpha(at: 12, against: 5) * 1000).rounded() == 3)
  }

  private func result(_ verdicts: [Verdict], count: Int, compared: Bool = true) -> ScenarioResult {
    let metrics = verdicts.map { verdict in
      var metric = MetricResult(
        rule: GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512))),
        unit: "bytes", verdict: verdict
      )
      metric.isUndecided = compared && verdict == .inconclusive
      return metric
    }
    var result = Given.measurements([.peakRSS: Given.values(1, count: count)]).judged(against: .missing)
    result.metrics = metrics
    result.verdict = Verdict.combined(verdicts) ?? result.verdict
    result.plan = RepetitionPlan(min: 5, max: 20)
    return result
  }

  @Test("More repetitions are run only while noise leaves a metric undecided, up to the maximum")
  func next() throws {
    let plan = RepetitionPlan(min: 5, max: 20)
    #expect(plan.nextLook(after: result([.pass, .inconclusive], count: 5)) == 10)
    #expect(plan.nextLook(after: result([.improved, .inconclusive], count: 10)) == 20)
    #expect(plan.nextLook(after: result([.inconclusive], count: 20)) == nil)
    #expect(plan.nextLook(after: result([.regression, .inconclusive], count: 5)) == nil)
    #expect(plan.nextLook(after: result([.pass], count: 5)) == nil)
    #expect(plan.nextLook(after: result([.inconclusive], count: 5, compared: false)) == nil)
  }

  @Test(
    "A first baseline has 10 values, or the maximum if 10 are too noisy for the tolerance",
    arguments: [
      (0.1, Tolerance.bounds(relative: Percent(3), absolute: .kibibytes(512)), nil),
      (2, .bounds(relative: Percent(3), absolute: nil), 20), (0.1, .automatic, nil), (1, .automatic, 20),
    ]
      as [(Double, Tolerance, Int?)]
  )
  func baseline(step: Double, tolerance: Tolerance, expected: Int?) {
    let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: tolerance)])
    let result = Given.measurements([.peakRSS: Given.values(100, count: 10, step: step)], gate: gate)
      .judged(against: .missing)
    let repetitions = Repetitions.adaptive(min: 5, max: 20)
    #expect(repetitions.countForBaseline == 10)
    #expect(repetitions.countForBaseline(after: result) == expected)
    #expect(Repetitions.fixed(10).countForBaseline(after: result) == nil)
  }

  @Test("A first baseline with a value beyond its own tolerance has the maximum: there may be a second level")
  func baselineWithOutlier() {
    let values = Given.values(100, count: 9) + [Given.values(105)[0]]
    let result = Given.measurements([.peakRSS: values], gate: .standard).judged(against: .missing)
    #expect(Repetitions.adaptive(min: 5, max: 20).countForBaseline(after: result) == 20)
  }

  @Test("The reason for stopping is known")
  func reasons() {
    #expect(result([.pass], count: 5).stop == .decided)
    #expect(result([.regression, .inconclusive], count: 10).stop == .decided)
    #expect(result([.inconclusive], count: 20).stop == .maximumReached)
    #expect(result([.inconclusive], count: 5, compared: false).stop == .moreWouldNotHelp)
    var failed = result([.inconclusive], count: 5)
    failed.failure = Given.failure(End(.crash, signal: .segv))
    #expect(failed.stop == .failed)
    failed.plan = nil
    #expect(failed.stop == nil)
  }
}

@Suite("Comparing values with a baseline")
struct ComparisonTests {
  private func outcome(
    _ base: [Double],
    _ current: [Double],
    allowed: Double = 3,
    alpha: Double = 0.01,
    isLast: Bool = true
  ) -> Comparison.Outcome? {
    Comparison(from: base, to: current, allowed: allowed, alpha: alpha, isLast: isLast)?.outcome
  }

  private let quiet = [100.0, 100.1, 100, 99.9, 100]

  @Test("A rise must exceed the allowed change and be significant; a fall is the mirror image")
  func rises() {
    #expect(outcome(quiet, quiet.map { $0 + 4 }) == .rise)
    #expect(outcome(quiet, quiet.map { $0 - 4 }) == .fall)
    #expect(outcome(quiet, quiet.map { $0 + 2.8 }) == .level)
    #expect(outcome(quiet, quiet) == .level)
    let wide = [90.0, 95, 100, 105, 110]
    #expect(outcome(wide, wide.map { $0 + 4 }) == .undecided)
    #expect(outcome(wide, wide) == .undecided)
    #expect(outcome(wide, wide.map { $0 + 40 }) == .rise)
  }

  @Test("Too few values for a test are compared by size, but only at the last look")
  func tooFewValues() throws {
    let few = [100.0, 100, 101]
    #expect(outcome(few, [104.1, 104.2, 104.3]) == .rise)
    #expect(outcome(few, [102, 103, 90]) == .level)
    #expect(outcome(few, [90, 91, 92]) == .fall)
    let comparison = try #require(Comparison(from: few, to: few, allowed: 3, alpha: 0.01, isLast: true))
    #expect(comparison.method == .thresholds)
    #expect(outcome(few, [104.1, 104.2, 104.3], isLast: false) == .undecided)
  }

  /// Values at 58.4 and 66.4 MB, as measured with a real allocator.
  private let levels = [58.4, 66.4, 58.4, 66.3, 58.5, 58.4, 66.4, 66.5, 58.4, 66.4]

  @Test("A bimodal program is compared level by level")
  func modes() throws {
    let mixed = [58.5, 66.4, 66.4, 58.4, 66.3]
    let same = try #require(Comparison(from: levels, to: mixed, allowed: 1.8, alpha: 0.01, isLast: true))
    #expect(same.method == .levels && same.outcome == .level)
    #expect(same.levels?.highBefore == 5 && same.levels?.highNow == 3)
    #expect(same.levels?.countBefore == 10 && same.levels?.countNow == 5)
    #expect(outcome(levels, mixed.map { $0 + 2.5 }, allowed: 1.8) == .rise)
    #expect(outcome(levels, mixed.map { $0 - 2.5 }, allowed: 1.8) == .fall)
    // A rank test alone leaves these values undecided.
    #expect(outcome(Array(levels.prefix(9)), mixed, allowed: 1.8) == .undecided)
  }

  @Test("Reaching the higher level more often is a rise, or undecided for few values")
  func share() {
    let rare = Array(repeating: 58.4, count: 8) + [66.4, 66.4]
    #expect(outcome(rare, Array(repeating: 66.4, count: 10), allowed: 1.8) == .rise)
    #expect(outcome(rare, [66.4, 66.4, 66.4, 66.4, 58.4], allowed: 1.8) == .undecided)
    #expect(outcome(rare, [66.4, 58.4, 58.4, 58.4, 58.4], allowed: 1.8) == .level)
    let often = rare.map { 124.8 - $0 }
    #expect(outcome(often, Array(repeating: 58.4, count: 10), allowed: 1.8) == .fall)
  }

  @Test("A rise to a level that the baseline has seen is decided by the last look, and one above it at once")
  func seenLevel() {
    for rare in [1, 2] {
      let base = Array(repeating: 58.4, count: 10 - rare) + Array(repeating: 66.4, count: rare)
      func found(_ level: Double, isLast: Bool) -> Comparison.Outcome? {
        outcome(base, Array(repeating: level, count: 8), allowed: 1.8, isLast: isLast)
      }
      #expect(found(66.4, isLast: false) == .undecided)
      #expect(found(66.4, isLast: true) == .rise)
      #expect(found(69, isLast: false) == .rise)
    }
    #expect(outcome(Array(repeating: 58.4, count: 10), Array(repeating: 66.4, count: 5), isLast: false) == .rise)
  }

  @Test("The reason distinguishes a rise of the levels, a larger share of the higher level, and doubt")
  func levelReasons() throws {
    let allowed = Tolerance.bounds(relative: nil, absolute: .number(1.8))
    let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: allowed)])
    func metric(_ base: [Double], _ current: [Double]) throws -> MetricResult {
      let result = Given.measurements([.peakRSS: current], gate: gate)
        .judged(against: .baseline(Given.baseline([.peakRSS: base])))
      return try #require(result.metrics.first)
    }
    let rare = Array(repeating: 58.4, count: 8) + [66.4, 66.4]
    let often = TwoLevels(low: 58.4, high: 66.4, highBefore: 2, highNow: 10, countBefore: 10, countNow: 10)
    #expect(try metric(rare, Array(repeating: 66.4, count: 10)).reason == .levels(levels: often, outcome: .rise))
    guard case .levels(let rises, .rise)? = try metric(levels, levels.map { $0 + 2.5 }).reason else {
      Issue.record("the levels did not rise")
      return
    }
    #expect(rises.highBefore == 5 && rises.highNow == 5)
    let doubtful = try metric(rare, [66.4, 66.4, 66.4, 66.4, 58.4])
    guard case .levels(let few, .undecided(let bound))? = doubtful.reason else {
      Issue.record("\(String(describing: doubtful.reason))")
      return
    }
    #expect(doubtful.verdict == .inconclusive && few.highNow == 4 && bound > 1.8)
  }

  @Test("A comparison by size has a note, and an undecided comparison an upper bound")
  func otherReasons() throws {
    func judged(_ base: [Double], _ current: [Double]) throws -> ScenarioResult {
      let gate = Gate(rules: [GateRule(metric: .peakRSS, tolerance: .bounds(relative: nil, absolute: .number(3)))])
      return Given.measurements([.peakRSS: current], gate: gate)
        .judged(against: .baseline(Given.baseline([.peakRSS: base])))
    }
    let few = try judged([100, 100, 101], [104.1, 104.2, 104.3])
    #expect(few.notes == [.tooFewValues(current: 3, baseline: 3)] && few.metrics[0].method == .thresholds)
    let wide = try judged([90, 95, 100, 105, 110], [94, 99, 104, 109, 114]).metrics[0]
    guard case .undecided(let bound)? = wide.reason else {
      Issue.record("\(String(describing: wide.reason))")
      return
    }
    #expect(bound > 3)
    #expect(try judged(quiet, quiet.map { $0 - 4 }).metrics[0].reason == .fall)
    let without = try judged([], quiet).metrics[0]
    #expect(without.reason == .notInBaseline && without.verdict == .noBaseline)
  }
}

@Suite("Programs with memory that is hard to compare")
struct HardProgramTests {
  /// In MiB: a baseline, the current values, and the verdict of the standard gate.
  struct Program: CustomTestStringConvertible {
    let testDescription: String
    let baseline: [Double]
    let current: [Double]
    let verdict: Verdict
  }

  private static let programs: [Program] = [
    Program(
      testDescription: "two levels, as often as before",
      baseline: [58.4, 66.4, 58.4, 66.3, 58.5, 58.4, 66.4, 66.5, 58.4, 66.4],
      current: [66.4, 58.4, 58.5, 66.4, 58.4], verdict: .pass),
    Program(
      testDescription: "one outlier of half as much again in ten",
      baseline: [40, 40.1, 40, 60, 40.1, 40, 39.9, 40, 40.1, 40], current: [40, 40, 61, 40.1, 39.9], verdict: .pass),
    Program(
      testDescription: "a first run that differs on both sides, without a warm-up",
      baseline: [22.4, 20, 20, 20.1, 20, 20, 20.1, 20, 20, 20], current: [22.4, 20, 20.1, 20, 20], verdict: .pass),
    Program(
      testDescription: "memory that grows by whole tables: 1.3 % more input took 4.5 %",
      baseline: Array(repeating: 100, count: 10), current: Array(repeating: 104.5, count: 5), verdict: .regression),
    Program(
      testDescription: "a collector whose runs differ by a fifth",
      baseline: [90, 104, 97, 112, 101, 93, 108, 99, 95, 106], current: [98, 107, 92, 103, 110], verdict: .inconclusive),
    Program(
      testDescription: "the same collector with a heap of half as much again",
      baseline: [90, 104, 97, 112, 101, 93, 108, 99, 95, 106], current: [148, 157, 142, 153, 160],
      verdict: .regression),
    Program(
      testDescription: "a just-in-time compiler, a percent apart",
      baseline: [61.4, 61, 61.9, 61.2, 61.6, 61.3, 61.8, 61.5, 61.1, 61.7], current: [61.5, 61.2, 61.9, 61.3, 61.6],
      verdict: .pass),
    Program(
      testDescription: "eight threads of an allocator with arenas of their own",
      baseline: [32.4, 31.7, 33.1, 32.2, 32.9, 31.9, 32.6, 32.3, 33, 32.1], current: [32.5, 33, 31.8, 32.4, 32.7],
      verdict: .pass),
    Program(
      testDescription: "a tool of 2 MiB, 400 KiB larger", baseline: Array(repeating: 2, count: 10),
      current: Array(repeating: 2.4, count: 5), verdict: .pass),
    Program(
      testDescription: "a tool of 2 MiB, 600 KiB larger", baseline: Array(repeating: 2, count: 10),
      current: Array(repeating: 2.6, count: 5), verdict: .regression),
  ]

  @Test("Each program has the expected verdict", arguments: programs)
  func verdict(program: Program) {
    func bytes(_ mebibytes: [Double]) -> [Double] { mebibytes.map { ($0 * 1_048_576).rounded() } }
    var measurements = Given.measurements(
      [.peakRSS: bytes(program.current)],
      gate: Gate(rules: [
        GateRule(metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)))
      ])
    )
    measurements.plan = RepetitionPlan(min: 5, max: 20)
    let result = measurements.judged(against: .baseline(Given.baseline([.peakRSS: bytes(program.baseline)])))
    #expect(result.verdict == program.verdict)
  }
}
