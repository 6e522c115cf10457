import GateCore

/// The builds of a checkout, before its scenarios are measured.
struct CheckoutBuild {
  /// The build commands of the scenarios, each once, in the order of the project file.
  let commands: [Command]
  let project: Project
  /// The path of the file for the output of the last build.
  let log: String

  init(of scenarios: [Scenario], in project: Project, log: String) {
    commands = scenarios.buildCommands
    (self.project, self.log) = (project, log)
  }

  /// Runs the commands until one fails.
  ///
  /// - Returns: The exit code of the whole command if nothing can be measured; nil if everything is built.
  func failure(_ options: SharedOptions, _ invocation: Invocation) -> ExitCode? {
    for command in commands {
      let scenario = Scenario.building(command, in: project.root, invocation)
      invocation.console.show(.repetitionStarted(Progress.Repetition(scenario: scenario.name, number: 1, of: 1)))
      let recording = invocation.measurer.measure(scenario, output: log, keepsInterrupted: false)
      invocation.console.endProgress()
      guard let recording else {
        return invocation.interruptedExit("the build was stopped, and nothing was measured")
      }
      guard let failure = recording.failure(in: scenario, loop: nil) else { continue }
      report(failure, of: command, options, invocation)
      return .failed
    }
    return nil
  }

  private func report(_ failure: Failure, of command: Command, _ options: SharedOptions, _ invocation: Invocation) {
    let console = invocation.console
    var page = TerminalPage(console.style(onOutput: false))
    page.paragraph(
      "error: the build failed: `\(TerminalText.safe(command.shellLine))`: \(failure.causeText)", indent: 0)
    OutputLines.write(failure.output, lines: 20, to: &page)
    page.paragraph("see the whole output in `\(invocation.shown(log))`", indent: 2, label: "hint: ")
    console.pass(page.text)
    console.report(besides: options) { style in
      var page = TerminalPage(style)
      page.closing(ExitCode.failed.name, .bad)
      return page.text
    }
  }
}

extension Failure {
  /// How a command ended, or why it was not started.
  var causeText: String { end.map(\.displayText) ?? displayText }
}

extension [Scenario] {
  /// What must run to build them: the command of each, once.
  var buildCommands: [Command] {
    compactMap(\.build).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The same as one line for a shell; nil if nothing must be built.
  var buildLine: String? {
    let lines = buildCommands.map(\.shellLine)
    guard lines.count > 1 else { return lines.first }
    return lines.map { "( \($0)\n)" }.joined(separator: " && ")
  }
}

extension Command {
  /// The command as a line for a shell.
  var shellLine: String {
    switch self {
    case .arguments(let words): ShellWords.line(words)
    case .shell(let line): line
    }
  }
}

extension Scenario {
  /// A build as a scenario, so that its processes end with the run, as all others do.
  static func building(_ command: Command, in folder: String, _ invocation: Invocation) -> Scenario {
    var target = Target(command: command, workingDirectory: folder)
    // Git sets variables such as GIT_DIR for its hooks, where a check may run.
    target.inheritedEnvironment = invocation.variables.keys.filter { !$0.hasPrefix("GIT_") }
    var scenario = Scenario(name: ScenarioName("build"), target: target)
    scenario.root = folder
    scenario.timeout = .seconds(24 * 3600)
    scenario.interval = .seconds(1)
    scenario.isolation.randomAddresses = true
    scenario.isolation.tracer = .off
    return scenario
  }
}
