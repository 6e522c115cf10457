/// The approved figures of the tests of a suite in one environment.
package struct SuiteBaseline: Sendable, Equatable, Codable {
  package var suite: ScenarioName
  package var environment: String
  package var framework: String
  /// The words of the command that ran all of the tests.
  package var command: [String]
  package var approval: Approval
  package var tests: [String: Entry]

  package struct Entry: Sendable, Hashable, Codable {
    package var peak: Bytes
    package var kept: Bytes
    package var objects: Bytes?
    /// What equal runs differed by, if that is above the tolerance.
    package var spread: TestFigures?

    package init(_ figures: TestFigures, spread: TestFigures? = nil) {
      (peak, kept, objects, self.spread) = (figures.peak, figures.kept, figures.objects, spread)
    }

    package var figures: TestFigures { TestFigures(peak: peak, kept: kept, objects: objects) }
  }

  package init(
    suite: ScenarioName, environment: String, framework: String, command: [String], approval: Approval,
    tests: [String: Entry] = [:]
  ) {
    (self.suite, self.environment, self.framework) = (suite, environment, framework)
    (self.command, self.approval, self.tests) = (command, approval, tests)
  }

  private enum CodingKeys: String, CodingKey {
    case suite, environment, framework, command, tests
    case approval = "approved"
  }
}

/// How much a test may change.
package struct SuiteTolerance: Sendable, Equatable {
  /// In percent of the approved figure.
  package var relative: Double
  package var absolute: Bytes
  /// In percent of the garbage in a peak, as far as it is known: of what the peak is above what the test keeps; and at least
  /// so much.
  package var garbage = 0.0
  package var leastGarbage = Bytes.zero

  /// The allocator of Python takes memory from the kernel in arenas of 1 MiB (ARENA_BITS in Objects/obmalloc.c), which one
  /// test more or less may need.
  package static let standard = SuiteTolerance(relative: 5, absolute: .kibibytes(1280))

  /// Of unchanged tests in Java, by OpenJDK 17.
  ///
  /// What a test keeps differs by up to 4.4 MiB (48 tests), as by the memory for compiled code, which a test pays for or the
  /// next one. Its garbage differs by up to 45 % (1,158 tests), and by the young generation, which is about 8 MiB of a small
  /// heap: a test begins on a new one, or on what the test before it left.
  package static let java = SuiteTolerance(
    relative: 5, absolute: .mebibytes(5), garbage: 50, leastGarbage: .mebibytes(5))

  /// The change that is allowed from an approved amount.
  func allowed(of metric: TestMetric, from figures: TestFigures) -> Bytes {
    func part(_ percent: Double, of amount: Bytes) -> Bytes {
      Bytes(clampedFrom: Double(max(0, amount.count)) * percent / 100)
    }
    let own = max(part(relative, of: figures[metric]), absolute)
    return metric == .peak ? own + max(part(garbage, of: figures.peak - figures.kept), leastGarbage) : own
  }

  /// What equal runs of a test differ by, if that is more than may change in one of its figures.
  func large(_ spread: TestFigures, of figures: TestFigures) -> TestFigures? {
    TestMetric.allCases.contains { spread[$0] > allowed(of: $0, from: figures) } ? spread : nil
  }
}

extension SuiteBaseline.Entry {
  /// What a figure is above the approved one, if that is more than the tolerance allows; nil if it is not.
  func rise(of metric: TestMetric, to figures: TestFigures, beyond tolerance: SuiteTolerance) -> Bytes? {
    // Nothing is known of objects where they were not counted.
    if metric == .objects, objects == nil { return nil }
    let rise = figures[metric] - self.figures[metric]
    return rise > allowed(of: metric, tolerance) ? rise : nil
  }

  /// What a figure is below the approved one, if that is more than the tolerance allows; nil if it is not.
  package func fall(of metric: TestMetric, to figures: TestFigures, beyond tolerance: SuiteTolerance) -> Bytes? {
    let fall = self.figures[metric] - figures[metric]
    return fall > allowed(of: metric, tolerance) ? fall : nil
  }

  /// The change that is allowed from an approved figure.
  func allowed(of metric: TestMetric, _ tolerance: SuiteTolerance) -> Bytes {
    tolerance.allowed(of: metric, from: figures) + (spread?[metric] ?? .zero)
  }
}

extension SuiteBaseline {
  /// What a result makes of a baseline: the tests that passed keep what was approved, those that failed have nothing new to
  /// approve, and those that are gone are removed, unless a failure or another command may have kept them from running.
  package init(of result: SuiteResult, replacing previous: SuiteBaseline?, approval: Approval) {
    self.init(
      suite: result.name, environment: result.environment.name, framework: result.framework, command: result.command,
      approval: approval)
    for test in result.tests {
      let name = test.test.name
      switch test.verdict {
      case .regression, .improved, .noBaseline: tests[name] = test.newEntry
      case .inconclusive where !test.isAmbiguous: tests[name] = test.newEntry
      case .pass, .failed, .skipped, .inconclusive: break
      }
      tests[name] = tests[name] ?? previous?.tests[name].map { $0.widened(by: test.spread) }
    }
    guard let previous, !result.missing.isEmpty, !result.hasRemovedMissing else { return }
    for name in result.missing { tests[name] = previous.tests[name] }
    command = previous.command
  }
}

extension TestResult {
  fileprivate var newEntry: SuiteBaseline.Entry? { run.figures.map { SuiteBaseline.Entry($0, spread: spread) } }
}

extension SuiteBaseline.Entry {
  fileprivate func widened(by other: TestFigures?) -> Self {
    guard let other else { return self }
    return Self(figures, spread: spread.map { TestFigures.most($0, other) } ?? other)
  }
}

/// How many tests an approval changes.
package struct SuiteBaselineChange: Sendable, Equatable {
  package let added: Int
  package let changed: Int
  package let removed: Int
  package let total: Int

  package init(from previous: SuiteBaseline?, to baseline: SuiteBaseline) {
    let before = previous?.tests ?? [:]
    added = baseline.tests.count { before[$0.key] == nil }
    changed = baseline.tests.count { name, entry in before[name].map { $0 != entry } ?? false }
    removed = before.keys.count { baseline.tests[$0] == nil }
    total = baseline.tests.count
  }

  package var isEmpty: Bool { added + changed + removed == 0 }
}
