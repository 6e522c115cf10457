import FoundationEssentials
import GateCore

/// Judges two result or baseline files as `check` would have.
struct Compare {
  var base: String
  var current: String
  var options = SharedOptions()
  var allowsMissingBaseline = false

  init(base: String, current: String) {
    self.base = base
    self.current = current
  }

  /// Judges each scenario of the current file against the scenario of the same name in the base file.
  func run(in invocation: Invocation) throws -> ExitCode {
    try options.prepareReports(in: invocation)
    let before = try ComparedFile(path: invocation.absolute(base), shown: base)
    let after = try ComparedFile(path: invocation.absolute(current), shown: current)
    let bases = Dictionary(grouping: before.baselines, by: \.scenario)
    var scenarios = after.scenarios.map { scenario in
      if let suite = scenario.suite { return scenario.compared(suite, with: before.suites[scenario.name]) }
      let reference = reference(for: scenario, among: bases[scenario.name] ?? [])
      return scenario.judged(against: reference, allowsMissingBaseline: allowsMissingBaseline)
    }
    let current = Set(scenarios.map(\.name))
    let missing = (before.baselines.map(\.scenario) + before.suites.keys.sorted()).filter { !current.contains($0) }
    if !missing.isEmpty, !scenarios.isEmpty { scenarios[0].notes.append(.onlyInBase(scenarios: missing)) }
    var run = after.run ?? RunInfo(startedAt: invocation.now())
    run.duration = .zero
    let result = RunResult(run: run, environment: after.environment, scenarios: scenarios)
    try report(result, invocation)
    return result.verdict.exitCode
  }

  private func reference(for scenario: ScenarioResult, among candidates: [Baseline]) -> Reference {
    if let baseline = candidates.first(where: { $0.isComparable(to: scenario.environment) }) {
      return .baseline(baseline)
    }
    return candidates.first.map { .other($0, scenario.environment) } ?? .missing
  }

  private func report(_ result: RunResult, _ invocation: Invocation) throws {
    var context = SummaryContext(
      command: .compare, detail: invocation.console.detail, exitCode: result.verdict.exitCode, approval: .unavailable
    )
    // The project file is not known, so that reports refer to the judged file.
    let place = SourcePlace(file: current, line: 1, column: 1)
    context.places = result.scenarios.reduce(into: [:]) { $0[$1.name] = place }
    try options.report(result, context: context, in: invocation)
  }
}

/// The content of a result or baseline file, on either side of a comparison.
private struct ComparedFile {
  let baselines: [Baseline]
  private(set) var suites: [ScenarioName: SuiteResult] = [:]
  let scenarios: [ScenarioResult]
  let environment: EnvironmentInfo
  let run: RunInfo?

  init(path: String, shown: String) throws {
    let bytes = try SafeFile.read(path, atMost: ResultFile.largest)
    guard BaselineFile.claims(bytes) else {
      let result = try ResultFile.decode(bytes, path: shown)
      guard !result.scenarios.isEmpty else {
        throw RunnerError(
          problem: "the result has no scenario", place: shown, hint: "compare files of a finished check")
      }
      run = result.run
      environment = result.environment
      scenarios = result.scenarios
      baselines = result.scenarios.filter { $0.failure == nil && $0.suite == nil }.map { Baseline(of: $0) }
      for scenario in scenarios { suites[scenario.name] = scenario.suite }
      return
    }
    let baseline = try Self.expectation(of: BaselineFile.decode(bytes, path: shown), at: path)
    run = nil
    baselines = [baseline]
    scenarios = [ScenarioMeasurement(of: baseline).judged(against: .missing)]
    environment = scenarios[0].environment
  }

  /// A baseline in its place has the changes that were approved since beside it, which a check expects as well.
  private static func expectation(of baseline: Baseline, at path: String) throws(FileError) -> Baseline {
    let store = BaselineStore(folder: SafeFile.folder(of: SafeFile.folder(of: path)))
    guard store.path(baseline.scenario, baseline.environment) == path else { return baseline }
    return try store.load(baseline.scenario, environment: baseline.environment) ?? baseline
  }
}

extension ScenarioResult {
  /// The tests of a suite compared with those of another result; without further runs, what needs more stays undecided.
  fileprivate func compared(_ suite: SuiteResult, with other: SuiteResult?) -> ScenarioResult {
    var suite = suite
    let log = TestLog(of: suite.tests.map(\.run))
    let comparison = SuiteComparison(
      with: other.map { TestLog(of: $0.tests.map(\.run)).entries }, tolerance: suite.tolerance)
    suite.hasBaseline = other != nil
    (suite.tests, suite.missing) = (comparison.results(of: log), comparison.missing(from: log))
    var result = ScenarioResult(of: suite)
    result.tags = self.tags
    result.definition = definition
    return result
  }
}
