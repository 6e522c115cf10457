/// What makes a target a suite, whose tests are judged one by one.
package struct SuiteRule: Sendable, Equatable {
  /// The frameworks by their names in commands and files.
  package enum Framework: String, Sendable, CaseIterable {
    case pytest, go, cargo, swift, node, junit, ctest, googletest, catch2
  }

  /// The most that some tests may need.
  package struct Limit: Sendable, Hashable {
    /// Of the names of tests (``NamePattern``).
    package var tests: String
    package var size: Bytes

    package init(_ size: Bytes, of tests: String = "*") {
      (self.size, self.tests) = (size, tests)
    }
  }

  /// nil for the one that the words of the command name.
  package var framework: Framework?
  /// Of several that fit a test, the last counts.
  package var limits: [Limit]

  package init(framework: Framework? = nil, limits: [Limit] = []) {
    (self.framework, self.limits) = (framework, limits)
  }
}

extension Scenario {
  /// How long a suite may take, unless the user gives another time.
  package static let suiteTimeout: Duration = .seconds(3600)

  /// Makes it run once, until the command ends, in the way that suites are measured.
  package mutating func becomeSuite(_ rule: SuiteRule) {
    target.suite = rule
    until = .exit
    warmup = 0
    repetitions = .fixed(1)
    // The plugins read the peaks, and tests may start many processes, use a debugger or debug themselves.
    interval = .milliseconds(100)
    isolation.tracer = .off
    explain = .off
  }
}

/// A figure of a whole suite: what the history has of it, so that thousands of tests are three series.
package enum SuiteMetric: String, Sendable, CaseIterable {
  case tests = "suite.tests"
  /// The highest peak of a test.
  case heaviest = "suite.heaviest"
  /// The sum of the peaks of all tests.
  case peaks = "suite.peaks"

  package init?(_ name: MetricName) {
    self.init(rawValue: name.text)
  }

  package var name: MetricName { MetricName(rawValue) }

  var kind: MetricKind { self == .tests ? .reported : .peak }

  package var unit: String { self == .tests ? "tests" : "bytes" }
}
