import GateCore

/// A check of a suite of tests that no project file has as a scenario.
struct SuiteCheck {
  /// The program and its arguments; not empty.
  var command: [String]
  var options = SharedOptions()
  /// nil for the name of the framework.
  var name: String?
  /// nil for the one that the words of the command name.
  var framework: SuiteRule.Framework?
  var limits: [SuiteRule.Limit] = []
  var timeout = Scenario.suiteTimeout
  /// The commit to compare with instead of what was approved, and the shell command that builds it.
  var against: (revision: String, build: String?)?

  init(command: [String]) {
    self.command = command
  }

  /// Checks the suite as if it were the only scenario of the project, which needs no file.
  ///
  /// - Returns: the exit code, as of `check`.
  func run(in invocation: Invocation) throws -> ExitCode {
    let temporary = try invocation.prepareMeasuring()
    var project =
      try options.suiteProject(in: invocation)
      ?? options.loadProject(in: invocation, notifying: true, requiringDelivery: false)
    project.scenarios = [scenario(in: project, invocation)]
    var check = Check()
    check.options = options
    check.against = against.map { .revision($0.revision, build: $0.build) }
    check.suite = (repeated, command)
    return try check.run(project, usingFolder: temporary, in: invocation)
  }

  /// The options that a suggested command repeats.
  private var repeated: [String] {
    let pairs = [
      ("--name", name), ("--framework", framework?.rawValue),
      ("--timeout", timeout == Scenario.suiteTimeout ? nil : Amount.time(timeout).spelled),
    ]
    return pairs.flatMap { option, value in value.map { [option, $0] } ?? [] }
      + limits.flatMap { ["--limit", ($0.tests == "*" ? "" : "\($0.tests)=") + Amount.size($0.size).spelled] }
  }

  /// The command as a scenario that inherits the whole environment, as from a shell.
  private func scenario(in project: Project, _ invocation: Invocation) -> Scenario {
    let frameworks = framework.map { [SuiteFramework($0)] } ?? SuiteFramework.candidates(for: command)
    var scenario = Scenario(
      name: ScenarioName(name ?? (frameworks.count == 1 ? frameworks[0].name.rawValue : "tests")),
      target: Target(command: .arguments(command), workingDirectory: invocation.workingDirectory))
    scenario.becomeSuite(SuiteRule(framework: framework, limits: limits))
    scenario.root = project.root
    scenario.target.inheritedEnvironment = invocation.variables.keys.sorted()
    scenario.timeout = timeout
    return scenario
  }
}
