import FoundationEssentials
import GateCore

/// Measures one command, without a project file and a baseline.
struct Record {
  /// The program and its arguments; not empty.
  var command: [String]
  var options = SharedOptions()
  var repetitions = 1
  var interval: Duration?
  var timeout: Duration?
  var tracer = Isolation.Tracer.auto
  /// The memory limit of the command and its children together, where a cgroup is available.
  var memoryLimit: Bytes?
  /// Whether the target's output is copied to standard error.
  var showsOutput = false

  init(command: [String]) {
    self.command = command
  }

  /// Runs the command and prints the measurements; an interruption stops the command, and what was measured is printed.
  ///
  /// - Returns: `pass`, `failed` if the command did not end with exit code 0, or the code of the interruption.
  func run(in invocation: Invocation) throws -> ExitCode {
    try options.prepareReports(in: invocation)
    let scratch = try ScratchFolder(in: try invocation.prepareMeasuring())
    let scenario = scenario(in: invocation)
    let rule = EnvironmentRule(name: options.environment)
    let outputs = ArtifactsFolder(path: scratch.path)
    try outputs.prepareFolders(for: scenario.name)
    let begin = ContinuousClock.now
    var run = RunInfo(startingAt: invocation.now(), in: invocation.workingDirectory, invocation)
    var scenarioRun = ScenarioRun(
      scenario, in: rule.environment(of: scenario, on: invocation.measurer), by: invocation.measurer, into: outputs,
      showProgress: invocation.console.show)
    scenarioRun.storesRecordings = false
    scenarioRun.keepsInterrupted = true
    var isComplete = true
    for number in (1 - scenario.warmup)...repetitions where isComplete {
      isComplete = scenarioRun.run(to: number, of: repetitions)
      if showsOutput { show(outputs.output(of: scenario.name, repetition: max(0, number)), on: invocation.console) }
    }
    invocation.console.endProgress()
    if !isComplete { invocation.console.say("interrupted: the command was stopped") }
    let interruptedCode = isComplete ? nil : invocation.interruptedCode ?? .interrupted
    run.duration = ContinuousClock.now - begin
    let result = scenarioRun.measurement.judged(against: .missing, allowsMissingBaseline: true)
    if let interruptedCode, result.repetitions.isEmpty { return interruptedCode }
    try report(
      RunResult(run: run, environment: result.environment, scenarios: [result]), scenarioRun.lastRecording, invocation)
    return interruptedCode ?? result.verdict.exitCode
  }

  private func show(_ output: String, on console: Console) {
    guard let bytes = try? SafeFile.read(output, atMost: 1 << 30) else { return }
    console.pass(String(decoding: bytes, as: UTF8.self))
  }

  /// The command as a scenario that inherits the whole environment, as from a shell.
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

  private func report(_ result: RunResult, _ recording: Recording?, _ invocation: Invocation) throws {
    invocation.console.report(besides: options) { style in
      RecordReport.text(result.scenarios[0], recording: recording, style: style)
    }
    var context = SummaryContext(command: .record, exitCode: result.verdict.exitCode, approval: .unavailable)
    context.options = repetitions > 1 ? ["--repetitions", "\(repetitions)"] : []
    context.measured = command
    if let failure = options.writeReports(of: result, context: context, in: invocation).first { throw failure }
  }
}
