import GateCore

/// Runs a suite, judges its tests, and runs the suspects again.
struct SuiteMeasurement {
  /// What the tests are compared with.
  enum Reference {
    case approved(SuiteBaseline?)
    /// The same suite in the checkout of another commit, at this path.
    case checkout(String)

    fileprivate var checkout: String? {
      if case .checkout(let folder) = self { folder } else { nil }
    }
  }

  /// The suite as a scenario (``Scenario/becomeSuite(_:)``).
  let scenario: Scenario
  let environment: EnvironmentInfo
  let reference: Reference
  /// The file for the output of the command.
  let output: String
  let invocation: Invocation

  /// The frameworks that the command may run.
  var frameworks: [SuiteFramework] {
    scenario.target.suite?.framework.map { [SuiteFramework($0)] }
      ?? SuiteFramework.candidates(for: scenario.target.command.words)
  }

  /// The judged suite, measured with a folder for temporary files; nil after an interruption.
  func result(usingFolder temporary: String) throws -> SuiteResult? {
    let scratch = try ScratchFolder(in: temporary)
    let runner = try SuiteRunner(scenario, frameworks, scratch: scratch.path, output: output, invocation)
    let approved: [String: SuiteBaseline.Entry]?
    switch reference {
    case .approved(let baseline): approved = baseline?.tests
    case .checkout(let folder):
      guard let other = try run(runner, in: folder) else { return nil }
      approved = other.log.entries
    }
    var result = SuiteResult(
      name: scenario.name, framework: frameworks.map(\.name.rawValue).joined(separator: ", "),
      command: scenario.target.command.words, environment: environment)
    let limits = scenario.target.suite?.limits ?? []
    // What equal runs differ by is approved with them, but what has limits may never be.
    let runs = approved == nil && limits.isEmpty ? 2 : 1
    guard let first = try run(runner, of: runs) else { return nil }
    let comparison = SuiteComparison(with: approved, tolerance: result.tolerance, limits: limits)
    result.hasBaseline = approved != nil
    if case .approved(let baseline?) = reference, baseline.command != result.command {
      result.approvedCommand = baseline.command
    }
    result.tests = comparison.results(of: first.log)
    result.missing = comparison.missing(from: first.log)
    result.unusedLimits = comparison.unusedLimits(for: first.log)
    result.problems = [first.problem].compactMap(\.self)
    result.suiteTime = first.duration
    result.output = first.output.isEmpty || result.verdict != .failed ? nil : first.output
    if runs > 1, result.verdict != .failed, let second = try run(runner, number: 2, of: runs) {
      result.findSpreads(with: second.log)
      result.repeatTime = second.duration
    }
    if !result.tests.isEmpty {
      var stage = SuspectStage(result, runner, comparison.tolerance, against: reference.checkout, invocation)
      result = try stage.run()
    }
    return invocation.isInterrupted ? nil : result
  }

  private func run(
    _ runner: SuiteRunner, in checkout: String? = nil, number: Int = 1, of count: Int = 1
  ) throws -> SuiteRun? {
    let purpose = Progress.Repetition(
      scenario: scenario.name, number: number, of: count, isComparison: checkout != nil)
    return try runner.run(nil, in: checkout, purpose)
  }
}
