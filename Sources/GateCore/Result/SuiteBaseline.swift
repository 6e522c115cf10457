/// The approved figures of the tests of a suite in one environment.
package struct SuiteBaseline: Sendable, Equatable, Codable {
  package var suite: ScenarioName
  package var environment: String
  package var framework: String
  package var approval: Approval
  package var tests: [String: Entry]

  package struct Entry: Sendable, Hashable, Codable {
    package var peak: Bytes
    package var kept: Bytes
    package var objects: Bytes?
    /// The largest difference between two runs of the approved build, if it is above the tolerance.
    package var spread: Bytes?

    package init(_ figures: TestFigures, spread: Bytes? = nil) {
      (peak, kept, objects, self.spread) = (figures.peak, figures.kept, figures.objects, spread)
    }

    package var figures: TestFigures { TestFigures(peak: peak, kept: kept, objects: objects) }
  }

  package init(
    suite: ScenarioName, environment: String, framework: String, approval: Approval, tests: [String: Entry] = [:]
  ) {
    (self.suite, self.environment, self.framework) = (suite, environment, framework)
    (self.approval, self.tests) = (approval, tests)
  }

  private enum CodingKeys: String, CodingKey {
    case suite, environment, framework, tests
    case approval = "approved"
  }
}

/// How much a test may change.
package struct SuiteTolerance: Sendable, Equatable {
  /// In percent of the approved figure.
  package var relative: Double
  package var absolute: Bytes

  /// The allocator of Python takes memory from the kernel in arenas of 1 MiB (ARENA_BITS in Objects/obmalloc.c), which one
  /// test more or less may need.
  package static let standard = SuiteTolerance(relative: 5, absolute: .kibibytes(1280))

  /// Unchanged tests in Java differ by up to 4.4 MiB (48 tests, OpenJDK 17): by garbage, and by the memory for compiled
  /// code, which a test pays for or the next one.
  package static let java = SuiteTolerance(relative: 5, absolute: .mebibytes(5))

  /// The change that is allowed from an approved amount.
  func allowed(from amount: Bytes, spread: Bytes? = nil) -> Bytes {
    max(Bytes(clampedFrom: Double(max(0, amount.count)) * relative / 100), absolute) + (spread ?? .zero)
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

  /// The change that is allowed from an approved figure.
  func allowed(of metric: TestMetric, _ tolerance: SuiteTolerance) -> Bytes {
    tolerance.allowed(from: figures[metric], spread: spread)
  }
}

extension SuiteBaseline {
  /// What a result makes of a baseline: the tests that passed keep what was approved, those that failed have nothing new to
  /// approve, and those that are gone are removed, unless a failure may have kept them from running.
  package init(of result: SuiteResult, replacing previous: SuiteBaseline?, approval: Approval) {
    self.init(
      suite: result.name, environment: result.environment.name, framework: result.framework, approval: approval)
    for test in result.tests {
      let name = test.test.name
      switch test.verdict {
      case .regression, .improved, .noBaseline: tests[name] = test.run.figures.map { Entry($0) }
      case .inconclusive where !test.isAmbiguous: tests[name] = test.run.figures.map { Entry($0) }
      case .pass, .failed, .skipped, .inconclusive: break
      }
      tests[name] = tests[name] ?? previous?.tests[name]
    }
    guard result.tests.contains(where: { $0.verdict == .failed }) else { return }
    for name in result.missing { tests[name] = previous?.tests[name] }
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
