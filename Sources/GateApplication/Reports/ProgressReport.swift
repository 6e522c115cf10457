import GateCore

/// The progress of a run in one line.
enum ProgressReport {
  /// One line without a newline, narrower than the terminal by a column, so that the cursor does not wrap.
  ///
  /// On a terminal each line replaces the previous one; ``ProgressLog`` is for logs.
  static func line(_ progress: Progress, style: TerminalStyle) -> String {
    if case .scenarioFinished(let scenario) = progress { return finished(scenario, style: style) }
    let (name, rest) = parts(of: progress)
    let room = max(8, style.width - 1 - TerminalText.columns(rest))
    let shown = TerminalText.cut(TerminalText.safe(name.text), to: room, at: .middle, mark: style.ellipsis)
    return TerminalText.cut(TerminalText.withPlainSpaces(shown + rest), to: style.width - 1, mark: style.ellipsis)
  }

  private static func parts(of progress: Progress) -> (ScenarioName, String) {
    switch progress {
    case .scenarioStarted(let name, let index, let total, _):
      (name, "  scenario \(index) of \(total)")
    case .repetitionStarted(let repetition):
      (repetition.scenario, "  \(count(repetition))")
    case .repetitionFinished(let repetition, _, let duration) where repetition.purpose.isProfiled:
      (repetition.scenario, "  \(count(repetition))  \(Format.time(duration))")
    case .repetitionFinished(let repetition, let peak, let duration):
      (repetition.scenario, "  \(count(repetition))  \(peak.map { "\($0)" } ?? "no peak")  \(Format.time(duration))")
    case .scenarioFinished(let scenario):
      (scenario.name, "")
    }
  }

  private static func count(_ repetition: Progress.Repetition) -> String {
    repetition.purpose.word + (repetition.isComparison ? "other build " : "")
      + (repetition.ballast > .zero ? "+\(Format.amount(repetition.ballast)) " : "")
      + (repetition.isWarmup ? "warm-up " : "") + "\(repetition.number)/\(repetition.of)"
  }

  private static func finished(_ scenario: ScenarioResult, style: TerminalStyle) -> String {
    let head = scenario.verdict.heading(style)
    let free = style.width - 3 - TerminalText.columns(head)
    let wholeValue = mainValue(of: scenario).map { "  \($0)" } ?? ""
    // On a narrow line the name is more important.
    let value = TerminalText.columns(wholeValue) + leastName <= free ? wholeValue : ""
    let room = free - TerminalText.columns(value)
    let name = TerminalText.cut(TerminalText.safe(scenario.name.text), to: room, at: .middle, mark: style.ellipsis)
    let line = TerminalText.withPlainSpaces(style.painted(head, scenario.verdict.tone) + "  " + name + value)
    return TerminalText.withoutCommands(line)
  }

  private static let leastName = 10

  /// The metric that decided the verdict, or how the target ended.
  private static func mainValue(of scenario: ScenarioResult) -> String? {
    if scenario.verdict == .failed {
      return scenario.repetitions.last?.end.kind.rawValue
    }
    let decisive = scenario.metrics.first { $0.verdict == scenario.verdict } ?? scenario.metrics.first
    guard let decisive, let current = decisive.current else { return nil }
    let name = decisive.metric == .peakRSS ? "peak" : TerminalText.safe(decisive.metric.text)
    let change = decisive.change.map { Format.change(percent: $0.percent, absolute: $0.absolute, unit: decisive.unit) }
    let amount = Format.amount(current.median, unit: decisive.unit)
    return TerminalText.cut("\(name) \(amount)\(change.map { " " + $0 } ?? "")", to: 30, mark: "")
  }
}

extension Progress.Purpose {
  var isProfiled: Bool { self == .explaining || self == .profiling }

  /// Before the number of a repetition.
  fileprivate var word: String {
    switch self {
    case .measuring: ""
    case .explaining: "explaining "
    case .profiling: "profiling for later explanations "
    case .counting: "counting "
    case .limiting(let limit): "at \(Format.amount(limit)) "
    }
  }
}
