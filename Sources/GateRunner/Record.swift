import FoundationEssentials
package import GateCore
import GateFiles
import GateReports

/// Measures one command, without a project file and without a baseline.
package struct Record {
  /// The program and its arguments; not empty.
  package var command: [String]
  package var options = SharedOptions()
  package var repetitions = 1
  package var interval: Duration?
  package var timeout: Duration?
  package var tracer = Isolation.Tracer.auto
  /// What the command and its children may use together, where a cgroup can be made for them.
  package var memoryLimit: Bytes?
  /// Whether what the target printed is shown on standard error.
  package var showsOutput = false

  package init(command: [String]) {
    self.command = command
  }

  /// Runs the command and prints its figures.
  ///
  /// - Returns: `pass`, or `failed` where the command did not end with exit code 0.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let scenario = scenario(in: invocation)
    let probe = invocation.measurer
    let rule = EnvironmentRule(name: options.environment)
    let scratch = try ScratchFolder(variables: invocation.variables)
    let begin = ContinuousClock.now
    var run = RunInfo(
      startingAt: invocation.now(), BuildContext(variables: invocation.variables, root: invocation.workingDirectory)
    )
    var scenarioRun = ScenarioRun(
      scenario: scenario, environment: rule.info(for: scenario, measuredBy: probe), show: invocation.console.show
    )
    scenarioRun.remarks = probe.remarks(on: scenario)
    scenarioRun.givesAdvice = false
    var last: Recording?
    let isDone = scenarioRun.run(to: repetitions, of: repetitions) { scenario, number in
      let output = "\(scratch.path)/\(number).log"
      last = probe.measure(scenario, output: output)
      if showsOutput, let bytes = try? SafeFile.read(output, atMost: 1 << 30) {
        invocation.console.pass(String(decoding: bytes, as: UTF8.self))
      }
      return last
    }
    invocation.console.clearProgress()
    guard isDone else {
      invocation.console.say("interrupted: the target is stopped")
      return invocation.interruptedCode ?? .interrupted
    }
    run.duration = ContinuousClock.now - begin
    let result = scenarioRun.measurements.judged(against: .missing, allowsMissingBaseline: true)
    try tell(RunResult(run: run, environment: result.environment, scenarios: [result]), last, invocation)
    return result.verdict.exitCode
  }

  /// The command as a scenario; it sees the whole environment, as it would from a shell.
  private func scenario(in invocation: Invocation) -> Scenario {
    let folder = invocation.workingDirectory
    let program = command[0].split(separator: "/").last.map(String.init) ?? command[0]
    var scenario = Scenario(
      name: ScenarioName(PlainName.isValid(program) ? program : "command"),
      target: Target(command: .arguments(command), workingDirectory: folder)
    )
    scenario.root = folder
    scenario.target.inheritedEnvironment = invocation.variables.keys.sorted()
    scenario.until = .exit
    scenario.warmup = repetitions > 1 ? 1 : 0
    scenario.repetitions = .fixed(repetitions)
    scenario.timeout = timeout ?? .seconds(24 * 3600)
    if let interval { scenario.interval = interval }
    scenario.isolation.tracer = tracer
    scenario.memoryLimit = memoryLimit
    return scenario
  }

  private func tell(_ result: RunResult, _ recording: Recording?, _ invocation: Invocation) throws {
    invocation.console.report(besides: options) { style in
      RecordReport.text(result.scenarios[0], recording: recording, style: style)
    }
    try options.write(ResultFile.encode(result), in: invocation)
    var context = SummaryContext(command: .record, exitCode: result.verdict.exitCode, approval: .unavailable)
    context.options = repetitions > 1 ? ["--repetitions", "\(repetitions)"] : []
    context.recorded = command
    try options.writePage({ RunPage.text(result, context: context) }, in: invocation)
  }
}
