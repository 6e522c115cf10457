package import GateCore

/// The summary that `check` and `compare` leave on the terminal.
///
/// What passes comes first, in one line each; then the rest in detail, the gravest last, since the end of a log is what
/// people see; then what concerns many, what to do, and how far the figures can be trusted.
package enum SummaryReport {
  package static func text(_ result: RunResult, style: TerminalStyle, context: SummaryContext) -> String {
    var page = Page(style)
    if context.detail == .quiet {
      writeTrouble(of: result, context: context, to: &page)
    } else {
      writeScenarios(of: result, context: context, to: &page)
      NextSteps(result: result, context: context).write(to: &page)
      page.gap()
      SummaryFooter(result: result, context: context).write(to: &page)
      page.gap()
    }
    let verdict = result.verdict
    page.paragraph(summaryLine(result), indent: 0, tone: verdict == .pass ? .good : verdict.tone)
    page.line("\(Tool.name): " + style.painted(context.exitCode.name, context.exitCode == .pass ? .good : .bad))
    return page.text
  }

  /// In which order the details come.
  private static let detailed: [Verdict] = [.improved, .inconclusive, .noBaseline, .failed, .regression]

  /// Writes what made the exit code, and nothing that went well.
  private static func writeTrouble(of result: RunResult, context: SummaryContext, to page: inout Page) {
    let order = detailed.filter { $0.exitCode != .pass }
    let scenarios = order.flatMap { verdict in result.scenarios.filter { $0.verdict == verdict } }
    let notes = RunNotes(scenarios)
    for scenario in scenarios {
      ScenarioDetail(scenario: scenario, context: context, notes: notes).write(to: &page)
      page.gap()
    }
    notes.writeShared(to: &page)
    page.gap()
  }

  private static func writeScenarios(of result: RunResult, context: SummaryContext, to page: inout Page) {
    let plain = result.scenarios.filter { isPlain($0, context: context) }
    let notes = RunNotes(result.scenarios)
    PassingScenarios(plain).write(to: &page)
    notes.writeOwn(of: plain, to: &page)
    let others = result.scenarios.filter { !isPlain($0, context: context) }
    for verdict in [.skipped, .pass] + detailed {
      for scenario in others where scenario.verdict == verdict {
        page.gap()
        ScenarioDetail(scenario: scenario, context: context, notes: notes).write(to: &page)
      }
    }
    notes.writeShared(to: &page)
  }

  /// Whether one line suffices.
  private static func isPlain(_ scenario: ScenarioResult, context: SummaryContext) -> Bool {
    switch scenario.verdict {
    case .skipped: true
    case .pass: context.detail != .verbose && !scenario.metrics.contains(where: \.isWarning)
    case .improved, .regression, .failed, .inconclusive, .noBaseline: false
    }
  }
}
