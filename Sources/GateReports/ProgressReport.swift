package import GateCore

/// What is seen while a run goes on.
package enum ProgressReport {
  /// One line without a newline, at most as wide as the terminal less one column, so that the cursor does not wrap.
  ///
  /// On a terminal each line replaces the one before; elsewhere only lines of lasting progress are worth printing.
  package static func line(_ progress: Progress, style: TerminalStyle) -> String {
    if case .scenarioFinished(let scenario) = progress { return finished(scenario, style: style) }
    let (name, rest) = words(for: progress)
    let room = max(8, style.width - 1 - TerminalText.columns(rest))
    let shown = TerminalText.cut(TerminalText.safe(name.text), to: room, at: .middle, mark: style.ellipsis)
    let line = String((shown + rest).map { $0 == Format.space ? " " : $0 })
    return TerminalText.cut(line, to: style.width - 1, mark: style.ellipsis)
  }

  private static func words(for progress: Progress) -> (ScenarioName, String) {
    switch progress {
    case .scenarioStarted(let name, let index, let total):
      (name, "  scenario \(index) of \(total)")
    case .repetitionStarted(let repetition):
      (repetition.scenario, "  \(count(repetition))")
    case .repetitionFinished(let repetition, let peak, let duration):
      (repetition.scenario, "  \(count(repetition))  \(peak.map { "\($0)" } ?? "no peak")  \(Format.time(duration))")
    case .scenarioFinished(let scenario):
      (scenario.name, "")
    }
  }

  private static func count(_ repetition: Progress.Repetition) -> String {
    (repetition.isWarmup ? "warm-up " : "") + "\(repetition.number)/\(repetition.of)"
  }

  private static func finished(_ scenario: ScenarioResult, style: TerminalStyle) -> String {
    let head = scenario.verdict.heading(style)
    let free = style.width - 3 - TerminalText.columns(head)
    let figure = mainFigure(of: scenario).map { "  \($0)" } ?? ""
    // Of a narrow line the name gets what there is: without it the figure says nothing.
    let figures = TerminalText.columns(figure) + leastName <= free ? figure : ""
    let room = free - TerminalText.columns(figures)
    let name = TerminalText.cut(TerminalText.safe(scenario.name.text), to: room, at: .middle, mark: style.ellipsis)
    let line = style.painted(head, scenario.verdict.tone) + "  " + name + figures
    return String(line.map { $0 == Format.space ? " " : $0 })
  }

  private static let leastName = 10

  /// The worst metric, or why the scenario failed in short.
  private static func mainFigure(of scenario: ScenarioResult) -> String? {
    if scenario.verdict == .failed {
      return scenario.repetitions.last?.end.kind.rawValue
    }
    let telling = scenario.metrics.first { $0.verdict == scenario.verdict } ?? scenario.metrics.first
    guard let telling, let current = telling.current else { return nil }
    let name = telling.rule.metric == .peakRSS ? "peak" : TerminalText.safe(telling.rule.metric.text)
    let change = telling.change.map { " " + Format.percent($0.percent) } ?? ""
    return TerminalText.cut("\(name) \(Format.amount(current.median, unit: telling.unit))\(change)", to: 30, mark: "")
  }
}
