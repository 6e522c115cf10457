import GateCore

/// The report of `validate` on a valid project: the scenarios and how they would be judged.
enum ListingReport {
  static func text(_ project: Project, style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    for scenario in project.scenarios {
      write(scenario, to: &page)
      page.gap()
    }
    if project.scenarios.isEmpty { page.paragraph("no scenarios", indent: 0, tone: .unsure) }
    if !project.webhooks.isEmpty {
      // Without the addresses: for some services they are the credential.
      let kinds = project.webhooks.map { "\($0.format.rawValue)\(Format.space)(on \($0.occasion.rawValue))" }
      page.paragraph(kinds.joined(separator: ", "), indent: 0, label: "webhooks   ")
    }
    page.line(style.painted("baselines", .faint) + "  " + TerminalText.safe(project.baselines))
    page.line(TerminalText.safe(project.file) + ": valid, " + Format.count(project.scenarios.count, "scenario"))
    return page.text
  }

  private static let mostStale = 5

  /// A note on folders of baselines that no scenario uses.
  static func text(onStaleBaselines folders: [String]) -> String {
    let more = folders.count > mostStale ? " and \(Format.count(folders.count - mostStale, "other"))" : ""
    let list = folders.prefix(mostStale).joined(separator: ", ") + more
    return "unused baselines: \(list); remove them with `git rm -r`"
  }

  /// A note on an environment whose baselines no check has used for long, with the command that removes them.
  static func text(on unused: EnvironmentUses.Unused, in folder: String) -> String {
    // An asterisk of git also matches slashes, so that this includes changes and profiles.
    let pattern = "\(folder)/*/\(FileName.component(for: unused.name)).*"
    return "no check has used the baselines for \(unused.name) (\(Format.count(unused.scenarios, "scenario"))) since "
      + "\(unused.lastUse.day); if no such machine is left, remove them with `git rm -q \(ShellWords.quoted(pattern))`"
  }

  private static func write(_ scenario: Scenario, to page: inout TerminalPage) {
    let tags = scenario.tags.isEmpty ? "" : "  [" + scenario.tags.joined(separator: ", ") + "]"
    page.paragraph(TerminalText.safe(scenario.name.text + tags), indent: 0, tone: .strong)
    if !scenario.description.isEmpty { page.paragraph(TerminalText.safe(scenario.description), indent: 2) }
    let command = TerminalText.safe(
      scenario.target.running == nil ? scenario.target.command.shellLine : scenario.target.displayText)
    page.line("  " + page.style.painted("runs     ", .faint) + cut(command, margin: 11, style: page.style))
    page.paragraph(script(of: scenario), indent: 2, label: "script   ")
    writeCommands(of: scenario, to: &page)
    page.paragraph(repeats(of: scenario), indent: 2, label: "repeats  ")
    if let rule = scenario.limit {
      page.paragraph("must survive \(Format.amount(rule.survives))", indent: 2, label: "limit    ")
    }
    guard !scenario.gate.isStandard else {
      return page.paragraph(defaultText(of: scenario.gate), indent: 2, label: "gate     ")
    }
    for (index, rule) in scenario.gate.rules.enumerated() {
      let text = TerminalText.safe(rule.metric.text) + ": " + rule.displayText
      page.paragraph(text, indent: 2, label: index == 0 ? "gate     " : "         ")
    }
    if scenario.gate.rules.isEmpty { page.paragraph("no metrics", indent: 2, label: "gate     ") }
  }

  /// The maximum number of commands and steps that are listed of a scenario.
  private static let mostCommands = 10

  /// The commands and steps as they were understood: with or without a shell, in their order.
  private static func writeCommands(of scenario: Scenario, to page: inout TerminalPage) {
    let all =
      scenario.setup.map { ("setup    ", $0.shellLine) }
      + scenario.steps.flatMap { lines(of: $0, in: scenario) }.map { ("step     ", $0) }
      + scenario.teardown.map { ("teardown ", $0.shellLine) }
    for (label, text) in all.prefix(mostCommands) {
      let shown = TerminalText.safe(text.split(separator: "\n").first.map(String.init) ?? "")
      page.line("  " + page.style.painted(label, .faint) + cut(shown, margin: 11, style: page.style))
    }
    guard all.count > mostCommands else { return }
    page.line("           and \(all.count - mostCommands) more")
  }

  /// A step, and those of a `repeat` below it.
  private static func lines(of step: Step, in scenario: Scenario) -> [String] {
    let nested = step.action.turns.steps.flatMap { lines(of: $0, in: scenario) }.map { "  " + $0 }
    guard case .run(let client) = step.action else { return [step.description(in: scenario)] + nested }
    return ["run: " + client.command.shellLine]
  }

  private static func defaultText(of gate: Gate) -> String {
    "the default: " + gate.rules.map(\.metric.text).joined(separator: ", ") + ", as far as the scenario has them"
  }

  private static func cut(_ text: String, margin: Int, style: TerminalStyle) -> String {
    TerminalText.cut(text, to: style.width - margin, mark: style.ellipsis)
  }

  private static func script(of scenario: Scenario) -> String {
    let steps = Format.count(scenario.allSteps.count, "step")
    let setup = scenario.setup.isEmpty ? [] : [Format.count(scenario.setup.count, "setup command")]
    let ready =
      scenario.ready.map { ["waits for `\($0.condition.description(in: scenario))` (\(Format.time($0.within)))"] } ?? []
    let ending: String
    switch scenario.ending {
    case .exit: ending = "until it exits"
    case .steps: ending = "then stopped by SIG\(scenario.stop.signal.name)"
    }
    let body = scenario.steps.isEmpty ? [] : [steps]
    return TerminalText.safe((setup + ready + body + [ending]).joined(separator: ", "))
  }

  private static func repeats(of scenario: Scenario) -> String {
    let (plan, new) = (scenario.repetitions.plan, scenario.repetitions.countForBaseline)
    let times =
      plan.max == plan.min
      ? Format.count(plan.min, "time") : "\(plan.min) to \(plan.max) times (\(new) for a first baseline)"
    let warmup = scenario.warmup == 0 ? "" : " after \(Format.count(scenario.warmup, "warm-up"))"
    return "\(times)\(warmup), each at most \(Format.time(scenario.timeout))"
  }
}
