import FoundationEssentials
import GateCore

/// Runs a suite of tests as it is, and judges each of its tests.
struct SuiteCheck {
  /// The program and its arguments; not empty.
  var command: [String]
  var options = SharedOptions()
  /// nil for the name of the framework.
  var name: String?
  /// nil for the one that the words of the command name.
  var framework: SuiteFramework?
  var limit: Bytes?
  var timeout = Scenario.suiteTimeout
  /// The commit whose runs alone decide, instead of what was approved, and the shell command that builds it.
  var against: (revision: String, build: String?)?

  init(command: [String]) {
    self.command = command
  }

  /// Runs the suite, runs the suspects again, prints the report and stores the result for an approval.
  ///
  /// - Returns: the exit code of the verdict, or that of an interruption.
  func run(in invocation: Invocation) throws -> ExitCode {
    let temporary = try invocation.prepareMeasuring()
    try prepareReports(in: invocation)
    let place = try SuitePlace(options, in: invocation) { try options.loadProject(in: $0, webhooksNeeded: false) }
    try place.artifacts.prepare(in: place.root)
    return try place.artifacts.whileLocked {
      let frameworks = framework.map { [$0] } ?? SuiteFramework.candidates(for: command)
      let suite = ScenarioName(name ?? (frameworks.count == 1 ? frameworks[0].name.rawValue : "tests"))
      try SafeFile.makeFolder(place.folder(of: suite))
      return try check(scenario(of: suite, in: place, invocation), in: place, usingFolder: temporary, invocation)
    }
  }

  private func prepareReports(in invocation: Invocation) throws {
    if let file = options.reportFiles.first(where: { $0.format.row.suite == nil }) {
      let known = ReportFormat.allCases.filter { $0.row.suite != nil }.map(\.rawValue).joined(separator: ", ")
      throw RunnerError(
        problem: "the format \(file.format.rawValue) has no report of a suite", hint: "use one of \(known)")
    }
    try options.prepareReports(in: invocation)
  }

  private func check(
    _ scenario: Scenario, in place: SuitePlace, usingFolder temporary: String, _ invocation: Invocation
  ) throws -> ExitCode {
    let environment = place.environment.environment(of: scenario, on: invocation.measurer)
    let baseline = try SuiteBaselineFile(scenario.name, environment.name, in: place.baselines).read()
    var run = RunInfo(startingAt: invocation.now(), in: place.root, invocation)
    let begin = ContinuousClock.now
    let build = try otherBuild(place, invocation)
    let measurement = SuiteMeasurement(
      scenario: scenario, environment: environment,
      reference: build.map { .decided(by: $0.folder, approved: baseline) } ?? .approved(baseline),
      output: place.output(of: scenario.name), invocation: invocation)
    let measured = try withExtendedLifetime(build) { try measurement.result(usingFolder: temporary) }
    invocation.console.endProgress()
    guard var result = measured else {
      return invocation.interruptedExit("the suite was stopped; baselines and the last result are unchanged")
    }
    run.duration = ContinuousClock.now - begin
    result.run = run
    if build == nil { addToHistory(result, of: run, in: place, invocation) }
    return try finish(result, in: place, invocation)
  }

  /// Adds the suite to the history of the project, if it has one, and writes the page of the trend.
  private func addToHistory(_ result: SuiteResult, of run: RunInfo, in place: SuitePlace, _ invocation: Invocation) {
    guard var history = place.project.flatMap({ CheckHistory(of: $0, in: invocation) }) else { return }
    history.append(RunResult(run: run, environment: result.environment, scenarios: [ScenarioResult(of: result)]))
    _ = history.writeTrend(to: place.artifacts.trend)
  }

  private func otherBuild(_ place: SuitePlace, _ invocation: Invocation) throws -> CommitBuild? {
    guard let against else { return nil }
    let build = try CommitBuild(against.revision, in: place.root)
    try build.prepare(with: against.build, log: place.artifacts.buildLog, invocation)
    return build
  }

  /// The command as a scenario that inherits the whole environment, as from a shell.
  private func scenario(of suite: ScenarioName, in place: SuitePlace, _ invocation: Invocation) -> Scenario {
    var scenario = Scenario(
      name: suite, target: Target(command: .arguments(command), workingDirectory: invocation.workingDirectory))
    scenario.becomeSuite(SuiteRule(framework: framework?.name, limit: limit))
    scenario.root = place.root
    scenario.target.inheritedEnvironment = invocation.variables.keys.sorted()
    scenario.timeout = timeout
    return scenario
  }

  private func finish(_ result: SuiteResult, in place: SuitePlace, _ invocation: Invocation) throws -> ExitCode {
    try SafeFile.write(SuiteFile.encode(result), to: place.result(of: result.name))
    let output = invocation.shown(place.output(of: result.name))
    var failures: [FileError] = []
    for file in options.reportFiles {
      guard let content = file.format.row.suite else { continue }
      do throws(FileError) { try file.write(content(result), in: invocation) } catch { failures.append(error) }
    }
    invocation.console.report(besides: options) { style in
      SuiteReport.text(result, output: output, style: style, detail: invocation.console.detail)
    }
    if let failure = failures.first { throw failure }
    return result.verdict.exitCode
  }
}
