extension SuiteResult {
  /// Compares the tests with those of another run of the same build.
  package mutating func findSpreads(with log: TestLog) {
    let others = log.entries
    for (index, test) in tests.enumerated() {
      guard let figures = test.run.figures, let other = others[test.test.name]?.figures else { continue }
      tests[index].spread = tolerance.large(.spread(of: [[figures, other]]), of: figures)
    }
  }
}

extension TestResult {
  /// The result of a test that needed less than was approved, but not in another equal run; nil if that run shows it as well.
  package func withoutFall(by again: TestFigures, beyond tolerance: SuiteTolerance) -> TestResult? {
    guard case .fallen(let metric, let from, let to) = reason, let baseline, let figures = run.figures,
      baseline.fall(of: metric, to: again, beyond: tolerance) == nil
    else { return nil }
    var passed = self
    let spread = TestFigures.spread(of: [[figures, again]])
    (passed.verdict, passed.spread) = (.pass, tolerance.large(spread, of: baseline.figures))
    passed.reason = .varies(metric: metric, from: from, to: to, by: spread[metric])
    return passed
  }
}

/// The first stage: one run of a whole suite against its baseline.
///
/// Only what passes here is decided; a test that needs more is a suspect, which further runs decide (``SuspectDecision``).
package struct SuiteComparison: Sendable {
  /// By the names of the tests; nil without a baseline.
  package var approved: [String: SuiteBaseline.Entry]?
  package var tolerance: SuiteTolerance
  package var limits: [SuiteRule.Limit]

  package init(
    with approved: [String: SuiteBaseline.Entry]?, tolerance: SuiteTolerance = .standard,
    limits: [SuiteRule.Limit] = []
  ) {
    (self.approved, self.tolerance, self.limits) = (approved, tolerance, limits)
  }

  package func results(of log: TestLog) -> [TestResult] {
    log.runs.map { result(of: $0, isAmbiguous: log.ambiguous.contains($0.test.name)) }
  }

  /// The tests of the baseline that did not run, sorted.
  package func missing(from log: TestLog) -> [String] {
    let run = Set(log.runs.map(\.test.name))
    return (approved?.keys.filter { !run.contains($0) } ?? []).sorted()
  }

  /// The limits that fit no test, each by its pattern.
  package func unusedLimits(for log: TestLog) -> [String] {
    limits.map(\.tests).filter { pattern in !log.runs.contains { NamePattern.matches(pattern, $0.test.name) } }
  }

  private func result(of run: TestRun, isAmbiguous: Bool) -> TestResult {
    let entry = approved?[run.test.name]
    if isAmbiguous { return TestResult(run, baseline: entry, verdict: .inconclusive, reason: .ambiguous) }
    switch run.outcome {
    case .failed, .unfinished:
      return TestResult(run, baseline: entry, verdict: .failed, reason: .outcome(outcome: run.outcome))
    case .skipped: return TestResult(run, baseline: entry, verdict: .skipped)
    case .passed: break
    }
    guard let figures = run.figures else {
      return TestResult(run, baseline: entry, verdict: .failed, reason: .outcome(outcome: .unfinished))
    }
    if let limit = limits.last(where: { NamePattern.matches($0.tests, run.test.name) })?.size, figures.peak > limit {
      return TestResult(run, baseline: entry, verdict: .regression, reason: .overLimit(limit: limit))
    }
    guard let entry else { return TestResult(run, verdict: .noBaseline) }
    return judged(run, figures, against: entry)
  }

  private func judged(_ run: TestRun, _ figures: TestFigures, against entry: SuiteBaseline.Entry) -> TestResult {
    if let rise = rise(from: entry, to: figures) {
      let (from, to) = (entry.figures[rise], figures[rise])
      return TestResult(
        run, baseline: entry, verdict: .inconclusive, reason: .suspected(metric: rise, from: from, to: to))
    }
    let fallen = TestMetric.allCases.first { entry.fall(of: $0, to: figures, beyond: tolerance) != nil }
    guard let fallen else { return TestResult(run, baseline: entry, verdict: .pass) }
    let (from, to) = (entry.figures[fallen], figures[fallen])
    return TestResult(run, baseline: entry, verdict: .improved, reason: .fallen(metric: fallen, from: from, to: to))
  }

  /// The figure that rose beyond the tolerance; nil if none did.
  ///
  /// What a test keeps is also a part of its peak, and says more.
  package func rise(from entry: SuiteBaseline.Entry, to figures: TestFigures) -> TestMetric? {
    func rise(_ metric: TestMetric) -> Bytes? { entry.rise(of: metric, to: figures, beyond: tolerance) }
    let held = [TestMetric.kept, .objects].first { rise($0) != nil }
    guard let held, let least = rise(held) else { return rise(.peak) == nil ? nil : .peak }
    return rise(.peak).map { $0.count > 2 * least.count } == true ? .peak : held
  }
}
