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
  var timeout: Duration = .seconds(3600)
  /// The commit whose runs alone decide, instead of what was approved, and the shell command that builds it.
  var against: (revision: String, build: String?)?

  init(command: [String]) {
    self.command = command
  }

  /// Runs the suite, runs the suspects again, prints the report and stores the result for an approval.
  ///
  /// - Returns: the exit code of the verdict, or that of an interruption.
  func run(in invocation: Invocation) throws -> ExitCode {
    let scratch = try ScratchFolder(in: try invocation.prepareMeasuring())
    try prepareReports(in: invocation)
    let place = try SuitePlace(options, in: invocation)
    try place.artifacts.prepare(in: place.root)
    return try place.artifacts.whileLocked {
      let frameworks = framework.map { [$0] } ?? SuiteFramework.candidates(for: command)
      let suite = ScenarioName(name ?? (frameworks.count == 1 ? frameworks[0].name : "tests"))
      try SafeFile.makeFolder(place.folder(of: suite))
      let scenario = scenario(of: suite, in: place, invocation)
      let runner = try SuiteRunner(
        scenario, frameworks, scratch: scratch.path, output: place.output(of: suite), invocation)
      return try check(suite, by: runner, in: place, invocation)
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
    _ suite: ScenarioName, by runner: SuiteRunner, in place: SuitePlace, _ invocation: Invocation
  ) throws -> ExitCode {
    let environment = place.environment.environment(of: runner.scenario, on: invocation.measurer)
    let baseline = try SuiteBaselineFile(suite, environment.name, in: place.baselines).read()
    var run = RunInfo(startingAt: invocation.now(), in: place.root, invocation)
    let begin = ContinuousClock.now
    guard let first = try runner.run(nil, Progress.Repetition(scenario: suite, number: 1, of: 1)) else {
      return invocation.interruptedExit("the suite was stopped; baselines and the last result are unchanged")
    }
    let comparison = SuiteComparison(with: baseline, limit: limit)
    var result = SuiteResult(
      run: run, name: suite, framework: runner.frameworks.map(\.name).joined(separator: ", "), command: command,
      environment: environment)
    result.hasBaseline = baseline != nil
    result.tests = comparison.results(of: first.log)
    result.missing = comparison.missing(from: first.log)
    result.problems = [first.problem].compactMap(\.self)
    result.suiteTime = first.duration
    if !result.tests.isEmpty {
      var stage = SuspectStage(result, runner, comparison.tolerance, invocation)
      result = try stage.run(against: try otherBuild(place, invocation))
    }
    run.duration = ContinuousClock.now - begin
    result.run = run
    return try finish(result, baseline, in: place, invocation)
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
    scenario.root = place.root
    scenario.target.inheritedEnvironment = invocation.variables.keys.sorted()
    scenario.until = .exit
    scenario.warmup = 0
    scenario.repetitions = .fixed(1)
    scenario.timeout = timeout
    // The plugins read the peaks, and tests may start many processes, use a debugger or debug themselves.
    scenario.interval = .milliseconds(100)
    scenario.isolation.tracer = .off
    return scenario
  }

  private func finish(
    _ result: SuiteResult, _ baseline: SuiteBaseline?, in place: SuitePlace, _ invocation: Invocation
  ) throws -> ExitCode {
    invocation.console.endProgress()
    guard !invocation.isInterrupted else {
      return invocation.interruptedExit("the suite was stopped; baselines and the last result are unchanged")
    }
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
