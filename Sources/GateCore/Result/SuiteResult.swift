/// The tests of a suite with their verdicts.
package struct SuiteResult: Sendable, Equatable, Codable {
  package var name: ScenarioName
  package var framework: String
  /// The words of the command.
  package var command: [String]
  package var environment: EnvironmentInfo
  /// Whether there is a baseline for the environment.
  package var hasBaseline: Bool
  /// In the order in which they ran.
  package var tests: [TestResult]
  /// The words of the command of the baseline, if it is another one: it may have run other tests.
  package var approvedCommand: [String]?
  /// The tests of the baseline that did not run, sorted.
  package var missing: [String]
  /// The patterns of limits that fit no test.
  package var unusedLimits: [String] = []
  package var problems: [SuiteProblem]
  /// The time of the suite itself, and of the tests that ran again.
  package var suiteTime: Duration
  package var repeatTime: Duration
  /// The last lines of its output, if something failed.
  package var output: String?

  package init(
    name: ScenarioName, framework: String, command: [String], environment: EnvironmentInfo,
    hasBaseline: Bool = false, tests: [TestResult] = [], missing: [String] = [], problems: [SuiteProblem] = [],
    suiteTime: Duration = .zero, repeatTime: Duration = .zero
  ) {
    (self.name, self.framework, self.command) = (name, framework, command)
    (self.environment, self.hasBaseline, self.tests, self.missing) = (environment, hasBaseline, tests, missing)
    (self.problems, self.suiteTime, self.repeatTime) = (problems, suiteTime, repeatTime)
  }

  private enum CodingKeys: String, CodingKey {
    case name, framework, command, environment, hasBaseline, approvedCommand, tests, missing, unusedLimits, problems
    case output
    case suiteTime = "suiteSeconds"
    case repeatTime = "repeatSeconds"
  }

  /// What decides is the tests and the problems; a suite without a baseline has nothing to pass against.
  package var verdict: Verdict {
    let own: [Verdict] = problems.isEmpty ? [] : [.failed]
    let base: [Verdict] = hasBaseline || tests.allSatisfy(\.isJudgedWithoutBaseline) ? [] : [.noBaseline]
    // Skipped tests decide nothing: a suite of nothing else passes.
    let judged = tests.map(\.verdict).filter { ![.noBaseline, .skipped].contains($0) }
    return Verdict.combined(own + base + judged) ?? .pass
  }

  /// Whether the tests that did not run are gone: nothing else kept them from running.
  package var hasRemovedMissing: Bool {
    approvedCommand == nil && problems.isEmpty && !tests.contains { $0.verdict == .failed }
  }

  package func tests(with verdict: Verdict) -> [TestResult] { tests.filter { $0.verdict == verdict } }

  /// How much more any of its tests may need.
  package var tolerance: SuiteTolerance { framework == SuiteRule.Framework.junit.rawValue ? .java : .standard }

  /// The tests with the highest peaks, in descending order.
  package func heaviest(_ most: Int) -> [(test: TestResult, figures: TestFigures)] {
    let measured = tests.compactMap { test in test.run.figures.map { (test: test, figures: $0) } }
    return Array(measured.sorted { $0.figures.peak > $1.figures.peak }.prefix(most))
  }
}

/// A test with its verdict.
package struct TestResult: Sendable, Equatable, Codable {
  package var run: TestRun
  /// What was approved; nil for a new test.
  package var baseline: SuiteBaseline.Entry?
  package var verdict: Verdict
  package var reason: TestReason?
  /// The runs alone or between its neighbours of this build, and the runs alone of the one that it was compared with.
  package var alone: [TestFigures] = []
  package var aloneBefore: [TestFigures] = []
  /// What equal runs of this build differ by, if that is known and above the tolerance.
  package var spread: TestFigures?

  package init(_ run: TestRun, baseline: SuiteBaseline.Entry? = nil, verdict: Verdict, reason: TestReason? = nil) {
    (self.run, self.baseline, self.verdict, self.reason) = (run, baseline, verdict, reason)
  }

  package var test: SuiteTest { run.test }

  /// Whether a limit or its own end decides, for which no baseline is needed.
  var isJudgedWithoutBaseline: Bool { verdict == .skipped || reason?.needsBaseline == false }

  package var isNew: Bool { verdict == .noBaseline }

  /// Whether its figures may be those of another test.
  var isAmbiguous: Bool { reason == .ambiguous }
}

/// Why a test has its verdict.
package enum TestReason: Sendable, Hashable, Codable {
  /// The test itself failed, or did not end.
  case outcome(outcome: TestRun.Outcome)
  case overLimit(limit: Bytes)
  /// It needs more than was approved, also when it runs alone.
  case risen(metric: TestMetric, from: Bytes, to: Bytes, allowed: Bytes)
  case fallen(metric: TestMetric, from: Bytes, to: Bytes)
  /// Run alone it needs no more than before: what it does more in the suite is because of the tests before it.
  case becauseOfOthers(metric: TestMetric, from: Bytes, to: Bytes, cause: String)
  /// Its memory shows in another test, which needs no more than before when it runs alone.
  case showsIn(test: String, metric: TestMetric, from: Bytes, to: Bytes)
  /// In the suite it needs no more than alone, as before: tests before it left less to use again.
  case takenOver(metric: TestMetric, from: Bytes, to: Bytes)
  /// It was above the tolerance in one run of the suite only.
  case notRepeated(metric: TestMetric, from: Bytes, to: Bytes)
  /// It differs by more than the tolerance from what was approved, but by no more than equal runs do.
  case varies(metric: TestMetric, from: Bytes, to: Bytes, by: Bytes)
  /// It was above the tolerance in the suite, and has not run again.
  case suspected(metric: TestMetric, from: Bytes, to: Bytes)
  /// It needs more, but another test needs less: it may have taken that over.
  case undecided(metric: TestMetric, from: Bytes, to: Bytes)
  /// It could not be run alone.
  case notRunAlone(metric: TestMetric, from: Bytes, to: Bytes)
  /// Reported more than once, or at the same time as another.
  case ambiguous

  /// Whether it compares with a baseline.
  var needsBaseline: Bool {
    switch self {
    case .outcome, .overLimit, .ambiguous: false
    default: true
    }
  }
}
