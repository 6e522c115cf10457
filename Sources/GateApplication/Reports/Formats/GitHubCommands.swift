import GateCore

/// Workflow commands, which GitHub Actions reads from the log.
///
/// Texts of others are escaped in them; in all other output ``TerminalText/withoutCommands(_:)`` disarms them.
enum GitHubCommands {
  /// GitHub shows no more annotations of one kind for a step.
  private static let mostAnnotations = 10

  /// An annotation for each scenario that fails the run, the worst first, for those that are skipped, and for what a change
  /// edits of its own gate.
  ///
  /// It stands at the changed line on the call stack if there is one, else at the scenario's line in the project file.
  static func annotations(for result: RunResult, context: SummaryContext) -> String {
    let order = Verdict.precedence.filter { $0.exitCode != .pass }
    let failing = order.flatMap { verdict in result.scenarios.filter { $0.verdict == verdict } }
    let warned = result.scenarios.filter { scenario in
      scenario.verdict == .skipped
        || scenario.verdict.exitCode == .pass && scenario.metrics.contains(where: \.isWarning)
    }
    let notices = result.run.notes.filter { !$0.isRoutine }.map { command("notice", [], $0.text) }
    let findings = [("error", failing), ("warning", warned)].flatMap { name, scenarios in
      scenarios.prefix(mostAnnotations).map { annotation(name, $0, context: context) }
    }
    return (notices + findings).joined()
  }

  /// Begins a part of the log that is folded.
  static func group(_ title: String) -> String { command("group", [], title) }
  static let endGroup = command("endgroup", [], "")

  private static func annotation(_ name: String, _ scenario: ScenarioResult, context: SummaryContext) -> String {
    let place = scenario.changedPlace ?? context.places[scenario.name]
    let location = place.map { [("file", $0.file), ("line", "\(max(1, $0.line))")] } ?? []
    let warnings = scenario.metrics.filter(\.isWarning).map { scenario.message(on: $0) }
    let isWhole = name == "error" || scenario.verdict == .skipped
    let message = isWhole ? scenario.message(in: context) : warnings.joined(separator: "; ")
    let title = "\(TerminalText.safe(scenario.name.text)): \(name == "error" ? scenario.verdict.rawValue : name)"
    return command(name, location + [("title", title)], message)
  }

  /// One command with its newline.
  private static func command(_ name: String, _ properties: [(String, String)], _ message: String) -> String {
    let list = properties.map { "\($0)=\(escaped($1, inProperty: true))" }.joined(separator: ",")
    return "::\(name)\(list.isEmpty ? "" : " " + list)::\(escaped(message))\n"
  }

  /// Escapes what would end a command or a property (`actions/toolkit`, `command.ts`).
  private static func escaped(_ text: String, inProperty: Bool = false) -> String {
    let inAll: [Character: String] = ["%": "%25", "\r": "%0D", "\n": "%0A", "\r\n": "%0D%0A"]
    let inProperties: [Character: String] = [":": "%3A", ",": "%2C"]
    return text.map { inAll[$0] ?? (inProperty ? inProperties[$0] : nil) ?? String($0) }.joined()
  }
}
