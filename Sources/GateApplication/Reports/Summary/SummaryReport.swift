import GateCore

/// The summary printed by `check` and `compare`.
///
/// Passing scenarios come first, in one line each; then the others in detail, the worst last, since people see the end
/// of a log; then shared notes, next steps, and how the values were measured.
enum SummaryReport {
  static func text(_ result: RunResult, style: TerminalStyle, context: SummaryContext) -> String {
    var page = TerminalPage(style)
    if context.detail == .quiet {
      writeProblems(of: result, context: context, to: &page)
    } else {
      writeScenarios(of: result, context: context, to: &page)
      NoteList.write(of: result.run, detail: context.detail, to: &page)
      NextSteps(result: result, context: context).write(to: &page)
      page.gap()
      SummaryFooter(result: result, context: context).write(to: &page)
      page.gap()
    }
    let verdict = result.verdict
    page.paragraph(summaryLine(result), indent: 0, tone: verdict == .pass ? .good : verdict.tone)
    page.closing(context.exitCode.name, context.exitCode == .pass ? .good : .bad)
    return page.text
  }

  /// The order of the details.
  private static let detailed: [Verdict] = [.improved, .inconclusive, .noBaseline, .failed, .regression]

  /// Writes only the causes of the exit code.
  private static func writeProblems(of result: RunResult, context: SummaryContext, to page: inout TerminalPage) {
    let order = detailed.filter { $0.exitCode != .pass }
    let scenarios = order.flatMap { verdict in result.scenarios.filter { $0.verdict == verdict } }
    let notes = NoteList(scenarios, detail: context.detail)
    for verdict in order {
      write(scenarios.filter { $0.verdict == verdict }, context: context, notes: notes, to: &page)
    }
    page.gap()
    notes.writeShared(to: &page)
    page.gap()
  }

  private static func writeScenarios(of result: RunResult, context: SummaryContext, to page: inout TerminalPage) {
    let plain = result.scenarios.filter { isPlain($0, context: context) }
    let notes = NoteList(result.scenarios, detail: context.detail)
    PassingScenarios(plain).write(to: &page)
    notes.writeOwn(of: plain, to: &page)
    let others = result.scenarios.filter { !isPlain($0, context: context) }
    for verdict in [.skipped, .pass] + detailed {
      write(others.filter { $0.verdict == verdict }, context: context, notes: notes, to: &page)
    }
    notes.writeShared(to: &page)
  }

  /// The maximum number of blocks of each verdict; the other scenarios are only named.
  private static let (mostBlocks, mostNames) = (50, 100)

  private static func write(
    _ scenarios: [ScenarioResult], context: SummaryContext, notes: NoteList, to page: inout TerminalPage
  ) {
    let shown = scenarios.prefix(context.detail == .verbose ? .max : mostBlocks)
    let others = scenarios.dropFirst(shown.count)
    if let verdict = others.first?.verdict {
      let more = others.count > mostNames ? " and \(others.count - mostNames) more" : ""
      let names = others.prefix(mostNames).map(\.name.text).joined(separator: ", ")
      page.gap()
      page.paragraph(TerminalText.safe("also \(verdict.rawValue): \(names)\(more)"), indent: 0)
    }
    for scenario in shown {
      page.gap()
      ScenarioBlock(scenario: scenario, context: context, notes: notes).write(to: &page)
    }
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
