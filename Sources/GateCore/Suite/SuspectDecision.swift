/// The second stage: what further runs say of a test that needed more in the suite than was approved.
///
/// A figure of a test in a suite depends on the tests before it: on caches that they filled, modules that they loaded and
/// memory that they left to use again. So a rise counts only if the test shows it alone.
package struct SuspectDecision: Sendable {
  /// The runs alone or between its neighbours that decide; the first one that shows no rise ends them.
  package static let runs = 3
  /// More suspects than these have a cause in common, such as another version of a library; the others stay undecided.
  package static let mostSuspects = 30

  package let suspect: TestResult
  package let metric: TestMetric
  let entry: SuiteBaseline.Entry
  package let inSuite: TestFigures
  let tolerance: SuiteTolerance

  /// nil for a test that the first stage decides.
  package init?(_ result: TestResult, tolerance: SuiteTolerance) {
    guard result.verdict == .inconclusive, case .suspected(let metric, _, _) = result.reason,
      let entry = result.baseline, let figures = result.run.figures
    else { return nil }
    (suspect, self.metric, self.entry, inSuite, self.tolerance) = (result, metric, entry, figures, tolerance)
  }

  package var rise: Bytes { inSuite[metric] - entry.figures[metric] }

  /// Whether these figures are above what was approved.
  package func showsRise(_ figures: TestFigures) -> Bool {
    entry.rise(of: metric, to: figures, beyond: tolerance) != nil
  }

  /// Whether a run alone explains the rise: it is above what was approved, by half as much as in the suite or more.
  package func explainsRise(_ figures: TestFigures) -> Bool {
    showsRise(figures) && 2 * (figures[metric] - entry.figures[metric]).count >= rise.count
  }

  /// Whether the test needs clearly more in this run, after some of the tests before it, than alone.
  package func showsOthers(_ figures: TestFigures, alone: [TestFigures]) -> Bool {
    guard let alone = alone.map({ $0[metric] }).min() else { return false }
    return 2 * (figures[metric] - alone).count > (inSuite[metric] - alone).count
  }

  // MARK: The outcomes

  /// By the runs alone of this build and of the one before.
  package func decided(alone: [TestFigures], before: [TestFigures]) -> TestResult {
    guard let now = alone.map({ $0[metric] }).min(), let most = before.max(by: { $0[metric] < $1[metric] }) else {
      return notRunAlone
    }
    let (then, allowed) = (most[metric], tolerance.allowed(of: metric, from: most))
    let isRise = now - then > allowed
    return result(
      isRise ? .regression : .pass,
      isRise
        ? .risen(metric: metric, from: then, to: now, allowed: allowed)
        : .takenOver(metric: metric, from: entry.figures[metric], to: inSuite[metric]),
      alone, before)
  }

  /// By the runs alone, and a second run of the suite up to this test; `moved` is the most that another test needs less.
  package func decided(alone: [TestFigures], again: TestFigures, moved: Bytes) -> TestResult {
    let (from, to) = (entry.figures[metric], inSuite[metric])
    if let noise = passed(alone: alone, again: again) { return noise }
    guard 2 * moved.count < rise.count else {
      return result(.inconclusive, .undecided(metric: metric, from: from, to: to), alone)
    }
    let allowed = entry.allowed(of: metric, tolerance)
    var risen = result(
      .regression, .risen(metric: metric, from: from, to: min(to, again[metric]), allowed: allowed), alone)
    risen.spread = tolerance.large(spread(alone: alone, again: again), of: inSuite)
    return risen
  }

  /// What equal runs differ by: the first run alone loads fewer files than the others.
  private func spread(alone: [TestFigures], again: TestFigures) -> TestFigures {
    .spread(of: [[inSuite, again], Array(alone.dropFirst())])
  }

  /// The result of a test whose rise may be chance; nil if it is none.
  ///
  /// It was not there in the second run of the suite, or it is no larger than the difference between equal runs. In Java
  /// they differ, since a peak includes garbage that is not collected yet.
  package func passed(alone: [TestFigures], again: TestFigures) -> TestResult? {
    guard showsRise(again) else { return notRepeated(alone: alone) }
    let (from, to) = (entry.figures[metric], inSuite[metric])
    let spread = spread(alone: alone, again: again)
    guard min(to, again[metric]) - from <= entry.allowed(of: metric, tolerance) + spread[metric] else { return nil }
    return varies(by: spread, alone: alone)
  }

  /// Equal runs of this build differ by so much.
  package func varies(by spread: TestFigures, alone: [TestFigures]) -> TestResult {
    let (from, to) = (entry.figures[metric], inSuite[metric])
    var passed = result(.pass, .varies(metric: metric, from: from, to: to, by: spread[metric]), alone)
    passed.spread = spread
    return passed
  }

  package func notRepeated(alone: [TestFigures]) -> TestResult {
    result(.pass, .notRepeated(metric: metric, from: entry.figures[metric], to: inSuite[metric]), alone)
  }

  /// The test needs no more when it runs alone; `cause` is the test that makes it need more in the suite.
  package func cleared(alone: [TestFigures], cause: String) -> TestResult {
    let (from, to) = (entry.figures[metric], inSuite[metric])
    return result(.pass, .becauseOfOthers(metric: metric, from: from, to: to, cause: cause), alone)
  }

  package var notRunAlone: TestResult {
    result(.inconclusive, .notRunAlone(metric: metric, from: entry.figures[metric], to: inSuite[metric]), [])
  }

  /// The result of the test whose memory shows in this one.
  package func blamed(_ cause: TestResult) -> TestResult {
    var cause = cause
    cause.verdict = .regression
    cause.reason = .showsIn(
      test: suspect.test.name, metric: metric, from: entry.figures[metric], to: inSuite[metric])
    return cause
  }

  private func result(
    _ verdict: Verdict, _ reason: TestReason, _ alone: [TestFigures], _ before: [TestFigures] = []
  ) -> TestResult {
    var result = suspect
    (result.verdict, result.reason, result.alone, result.aloneBefore) = (verdict, reason, alone, before)
    return result
  }
}

extension [TestResult] {
  /// The tests that ran before one in its process, in order.
  package func before(_ test: TestResult) -> [TestResult] {
    guard let place = firstIndex(where: { $0.test == test.test }) else { return [] }
    return self[..<place].filter { $0.run.process == test.run.process }
  }
}

extension SuiteResult {
  /// The most that a test before this one needs less than was approved, or that a removed one needed: this one may have
  /// taken it over, as the first that loads a module.
  package func moved(before test: TestResult) -> Bytes {
    let fallen = tests.before(test).compactMap { other -> Bytes? in
      guard let entry = other.baseline else { return nil }
      guard let figures = other.run.figures, other.verdict != .skipped else { return entry.peak }
      return max(entry.peak - figures.peak, entry.kept - figures.kept)
    }
    return fallen.max() ?? .zero
  }
}
