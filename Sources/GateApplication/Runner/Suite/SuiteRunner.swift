import GateCore
import GateProbe
import LinuxSystem

/// One run of a suite, or of some of its tests.
struct SuiteRun {
  var log: TestLog
  var problem: SuiteProblem?
  var duration: Duration
  /// The last lines of what the command printed, or of the failed tests.
  var output = ""

  /// The figures of a test; nil if it did not pass, or if it is not known which are its own.
  func figures(of test: String) -> TestFigures? {
    guard !log.ambiguous.contains(test), let run = log.runs.first(where: { $0.test.name == test }) else { return nil }
    return run.outcome == .passed ? run.figures : nil
  }
}

/// Runs the tests of a suite, with the plugins of its framework.
struct SuiteRunner {
  let scenario: Scenario
  let frameworks: [SuiteFramework]
  /// The temporary folder of the run.
  let scratch: String
  /// The file for the output of a run of the whole suite.
  let output: String
  let invocation: Invocation
  /// Runs the tests of a framework without a plugin.
  private let listed: ListedSuite?

  /// Whether each test has a process of its own, so that all runs of it are equal.
  var hasProcessesOfTests: Bool { listed != nil }

  /// Writes the plugins.
  init(
    _ scenario: Scenario, _ frameworks: [SuiteFramework], scratch: String, output: String, _ invocation: Invocation
  ) throws {
    (self.frameworks, self.scratch, self.output, self.invocation) = (frameworks, scratch, output, invocation)
    var scenario = scenario
    for tests in frameworks.compactMap(\.reported) {
      try SafeFile.write(tests.contents, to: "\(scratch)/plugins/\(tests.plugin)")
      let set = invocation.variables.merging(scenario.target.environment) { _, own in own }
      scenario.target.environment.merge(tests.variables("\(scratch)/plugins", set)) { _, new in new }
    }
    if case .listed(let tests)? = frameworks.first?.method {
      listed = ListedSuite(tests, scenario, scratch: scratch, output: output, invocation)
    } else {
      listed = nil
    }
    self.scenario = scenario
  }

  /// Runs the suite, or only the given tests in that order, in this checkout or in that of another commit at a path.
  ///
  /// With `loadingAll`, files without a chosen test are loaded as well, which takes time.
  ///
  /// - Returns: nil after an interruption.
  func run(
    _ only: [String]? = nil, loadingAll: Bool = true, in checkout: String? = nil, _ purpose: Progress.Repetition
  ) throws -> SuiteRun? {
    if let listed { return try listed.run(only, in: checkout ?? scenario.root, purpose) }
    let logs = try ScratchFolder(in: scratch)
    var scenario = checkout.map { self.scenario.moved(to: $0) } ?? self.scenario
    scenario.target.environment["HIGHWATER_TESTS"] = logs.path
    if let only {
      try SafeFile.write(JSON.encode(only, .line), to: "\(scratch)/only.json")
      scenario.target.environment["HIGHWATER_ONLY"] = "\(scratch)/only.json"
      if loadingAll { scenario.target.environment["HIGHWATER_LOADS"] = "all" }
      scenario.target.command = .arguments(
        frameworks.compactMap(\.reported).reduce(scenario.target.command.words) { $1.selection($0, only) })
    }
    invocation.console.show(.repetitionStarted(purpose))
    let recording = invocation.measurer.measure(
      scenario, output: only == nil ? output : nil, keepsInterrupted: false)
    invocation.console.endProgress()
    guard let recording else { return nil }
    let (log, problem) = try TestLogFolder(path: logs.path).read()
    let own = self.problem(of: recording, log)
    // A crash explains why not all was recorded.
    let isExplained = if case .notRecorded = problem { own != nil } else { false }
    return SuiteRun(
      log: log, problem: isExplained ? own : problem ?? own, duration: recording.duration, output: recording.outputTail)
  }

  private func problem(of recording: Recording, _ log: TestLog) -> SuiteProblem? {
    let failure = recording.failure(in: scenario, loop: nil)
    let hasFailed = log.runs.contains { $0.outcome == .failed }
    // Frameworks exit with a code of their own for failed tests, which have verdicts of their own.
    if let failure, failure.end?.kind != .exited || !hasFailed { return .failed(failure: failure) }
    return log.runs.isEmpty ? .noTests : nil
  }
}
