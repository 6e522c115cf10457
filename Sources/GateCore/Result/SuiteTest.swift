/// A test of a suite, as its framework names it.
package struct SuiteTest: Sendable, Hashable, Codable {
  /// Unique in its suite, as in `tests/test_a.py::test_b[1]`.
  package var name: String
  /// The file and the line of its code, if the framework reports them.
  package var file: String?
  package var line: Int?

  package init(_ name: String, file: String? = nil, line: Int? = nil) {
    (self.name, self.file, self.line) = (name, file, line)
  }

  /// As in `tests/test_a.py:12`; nil if it is unknown, or is the name.
  package var place: String? {
    let place = file.map { $0 + (line.map { ":\($0)" } ?? "") }
    return place == name ? nil : place
  }
}

/// What a test needs and leaves, without what its process held before.
package struct TestFigures: Sendable, Hashable, Codable {
  /// The peak during the test, above what was resident when it began.
  package var peak: Bytes
  /// The rise of resident memory from the begin to the end; zero if it fell, or for a test with a process of its own.
  package var kept: Bytes
  /// What the objects that it keeps take at least in Python's own allocator, also in memory that was resident before; nil in
  /// other languages.
  package var objects: Bytes?

  package init(peak: Bytes, kept: Bytes = .zero, objects: Bytes? = nil) {
    (self.peak, self.kept, self.objects) = (peak, kept, objects)
  }

  package subscript(metric: TestMetric) -> Bytes {
    switch metric {
    case .peak: peak
    case .kept: kept
    case .objects: objects ?? .zero
    }
  }

  /// The largest difference within a group of equal runs, of each figure.
  package static func spread(of groups: [[TestFigures]]) -> TestFigures {
    func spread(_ figure: (TestFigures) -> Bytes) -> Bytes {
      groups.compactMap { group in
        let values = group.map(figure)
        return values.max().flatMap { most in values.min().map { most - $0 } }
      }.max() ?? .zero
    }
    let hasObjects = groups.contains { $0.contains { $0.objects != nil } }
    return TestFigures(
      peak: spread(\.peak), kept: spread(\.kept), objects: hasObjects ? spread { $0[.objects] } : nil)
  }

  /// The larger figure of both, each.
  package static func most(_ one: TestFigures, _ other: TestFigures) -> TestFigures {
    TestFigures(
      peak: max(one.peak, other.peak), kept: max(one.kept, other.kept),
      objects: one.objects == nil && other.objects == nil ? nil : max(one[.objects], other[.objects]))
  }
}

/// A figure of a test (``TestFigures``).
package enum TestMetric: String, Sendable, CaseIterable, Codable {
  case peak, kept, objects
}

/// One run of a test.
package struct TestRun: Sendable, Hashable, Codable {
  package enum Outcome: String, Sendable, CaseIterable, Codable {
    case passed, failed, skipped
    /// It began and did not end.
    case unfinished
  }

  package var test: SuiteTest
  package var outcome: Outcome
  /// Resident memory when the test began; zero for a test with a process of its own.
  package var before: Bytes
  /// nil if it did not end.
  package var figures: TestFigures?
  /// Whether nothing was missed: the high-water mark was reset before the test, or rose in it.
  package var isExact: Bool
  package var duration: Duration
  /// The process that ran it, to tell which tests ran before it.
  package var process: Int32

  package init(
    _ test: SuiteTest, outcome: Outcome, before: Bytes = .zero, figures: TestFigures?, isExact: Bool = true,
    duration: Duration = .zero, process: Int32 = 0
  ) {
    (self.test, self.outcome, self.before) = (test, outcome, before)
    (self.figures, self.isExact, self.duration, self.process) = (figures, isExact, duration, process)
  }

  /// The highest resident memory of the process during the test.
  package var peakResident: Bytes? { figures.map { before + $0.peak } }

  private enum CodingKeys: String, CodingKey {
    case test, outcome, before, figures, isExact, process
    case duration = "durationSeconds"
  }
}
