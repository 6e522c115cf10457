extension MetricName {
  /// The longest name that files take, without the words around it.
  private static let longestTest = 380

  /// A figure of a test, as in `test.tests/test_a.py::test_b.peak`.
  package static func test(_ name: String, _ metric: TestMetric) -> MetricName {
    var scalars = String.UnicodeScalarView()
    var bytes = 0
    for scalar in name.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > longestTest { break }
      scalars.append(scalar.isControl ? "?" : scalar)
    }
    return MetricName("test.\(String(scalars)).\(metric.rawValue)")
  }

  /// Whether it is a figure of a suite or of one of its tests.
  package var isOfSuite: Bool { SuiteMetric(self) != nil || text.hasPrefix("test.") }
}

extension SuiteMetric {
  /// Of the figures of tests; nil without any.
  func value(of tests: [TestFigures]) -> Double? {
    guard !tests.isEmpty else { return nil }
    let bytes = tests.map { Double($0.peak.count) }
    return switch self {
    case .tests: Double(tests.count)
    case .heaviest: bytes.max()
    case .peaks: bytes.reduce(0, +)
    }
  }
}

extension SuiteBaseline {
  /// The figures of the whole suite.
  package var figures: [MetricName: Double] {
    let tests = tests.values.map(\.figures)
    return SuiteMetric.allCases.reduce(into: [:]) { $0[$1.name] = $1.value(of: tests) }
  }
}

// MARK: - The result

extension ScenarioResult {
  /// More tests than these are only counted; ``suite`` has all.
  private static let mostTests = 20

  /// A suite as a scenario that has run once: its figures, and a metric for each test that did not pass.
  ///
  /// One that may lack a baseline, as `reference` says, is skipped without one, and a note says for how long.
  package init(of suite: SuiteResult, lacking reference: Reference = .missing) {
    var (verdict, notes) = (suite.verdict, [] as [Note])
    switch reference {
    case .missingOfNew(let end) where verdict == .noBaseline:
      verdict = .skipped
      notes = [.newWithoutBaseline(until: end)]
    case .missingTooLong(let begin) where verdict == .noBaseline: notes = [.tooLongWithoutBaseline(since: begin)]
    case .baseline, .missing, .missingOfNew, .missingTooLong, .otherEnvironment, .unusable: break
    }
    self.init(
      name: suite.name, verdict: verdict, environment: suite.environment, gate: Gate(rules: []),
      metrics: suite.summaryMetrics + suite.testMetrics(atMost: Self.mostTests), failure: suite.failure, notes: notes)
    summary.repetitionCount = 1
    times.target = suite.suiteTime + suite.repeatTime
    self.suite = suite
  }
}

extension SuiteResult {
  fileprivate var summaryMetrics: [MetricResult] {
    // A skipped test has figures, too, as where a method before it ran.
    let counted = tests.filter { $0.run.outcome != .skipped && $0.run.figures != nil }
    let measured = counted.compactMap(\.run.figures)
    let approved = counted.compactMap(\.baseline?.figures)
    return SuiteMetric.allCases.compactMap { metric in
      guard let now = metric.value(of: measured) else { return nil }
      // Of a part of the tests it would be another figure.
      let before = hasBaseline && missing.isEmpty && approved.count == measured.count ? metric.value(of: approved) : nil
      return MetricResult(
        rule: GateRule(metric: metric.name, tolerance: nil), unit: metric.unit,
        verdict: .pass, baseline: before.map { ValueSummary(median: $0, count: 1) },
        current: ValueSummary(median: now, count: 1), change: .init(from: before, to: now))
    }
  }

  /// The tests that did not pass, the largest rises first; those that failed have no figures, and are in the failure.
  fileprivate func testMetrics(atMost most: Int) -> [MetricResult] {
    let order: [Verdict] = [.regression, .inconclusive, .improved]
    let shown = order.flatMap { verdict in
      tests(with: verdict).compactMap(\.metricResult).sorted { ($0.change?.absolute ?? 0) > ($1.change?.absolute ?? 0) }
    }
    var names: Set<MetricName> = []
    return Array(shown.filter { names.insert($0.metric).inserted }.prefix(most))
  }

  fileprivate var failure: Failure? {
    for case .failed(var failure) in problems {
      let open = tests.filter { $0.run.outcome == .unfinished }
      failure.part = open.isEmpty ? Failure.Part(.suite) : Failure.Part(.test, text: names(of: open))
      return failure
    }
    func failure(_ problem: Failure.Problem) -> Failure { Failure(problem: problem, output: output ?? "") }
    if let problem = problems.first { return failure(.suite(problem: problem)) }
    let failed = tests(with: .failed)
    guard !failed.isEmpty else { return nil }
    return failure(
      .testsFailed(count: failed.count, of: tests.count, names: failed.prefix(Self.mostNames).map(\.nameAndPlace)))
  }

  /// As in `tests/test_a.py::test_b (tests/test_a.py:12)`; of several, the first.
  private func names(of tests: [TestResult]) -> String {
    tests.prefix(Self.mostNames).map(\.nameAndPlace).joined(separator: ", ")
  }

  private static let mostNames = 5
}

extension TestResult {
  fileprivate var nameAndPlace: String { test.name + (test.place.map { " (\($0))" } ?? "") }

  fileprivate var metricResult: MetricResult? {
    guard let reason else { return nil }
    let (metric, from, to, allowed) = reason.figures
    let limit: Bytes? = if case .overLimit(let limit) = reason { limit } else { nil }
    let name = if case .showsIn(let other, _, _, _) = reason { other } else { test.name }
    let now = to ?? run.figures?[metric]
    return MetricResult(
      rule: GateRule(metric: .test(name, metric), tolerance: nil, limit: limit.map { .size($0) }), unit: "bytes",
      verdict: verdict, baseline: from.map { ValueSummary(median: Double($0.count), count: 1) },
      current: now.map { ValueSummary(median: Double($0.count), count: 1) },
      change: .init(from: from.map { Double($0.count) }, to: now.map { Double($0.count) }),
      allowed: allowed.map { Double($0.count) }, reason: .test(test: test, reason: reason))
  }
}

extension MetricResult.Change {
  /// Of one value on each side; nil unless both are known.
  fileprivate init?(from before: Double?, to now: Double?) {
    guard let before, let now else { return nil }
    let absolute = now - before
    self.init(absolute: absolute, percent: before > 0 ? absolute / before * 100 : nil, low: absolute, high: absolute)
  }
}

extension TestReason {
  /// The figure that it is about (``showsIn`` is about another test), what was approved, what is now, and the rise that is allowed, as far as it says.
  fileprivate var figures: (metric: TestMetric, from: Bytes?, to: Bytes?, allowed: Bytes?) {
    switch self {
    case .outcome, .overLimit, .ambiguous: (.peak, nil, nil, nil)
    case .risen(let metric, let from, let to, let allowed): (metric, from, to, allowed)
    case .fallen(let metric, let from, let to), .takenOver(let metric, let from, let to),
      .notRepeated(let metric, let from, let to), .suspected(let metric, let from, let to),
      .undecided(let metric, let from, let to), .notRunAlone(let metric, let from, let to),
      .varies(let metric, let from, let to, _), .becauseOfOthers(let metric, let from, let to, _),
      .showsIn(_, let metric, let from, let to):
      (metric, from, to, nil)
    }
  }
}
