import GateCore

/// The progress of a run as lines of a log, where no line can be overwritten.
///
/// A repetition has a line when it ends, and one for every ten seconds that it takes. Where the CI system can fold its
/// log, the lines of a scenario are folded behind its name, and its verdict follows them.
struct ProgressLog: Sendable {
  private let folding: LogFolding?
  /// As in `scenario 2 of 14`; none for a single command.
  private var positions: [ScenarioName: String] = [:]
  /// In the order in which they began.
  private var running: [Running] = []
  /// The open part of the log.
  private var section: LogFolding.Section?

  private static let interval = Duration.seconds(10)
  private static let style = TerminalStyle(width: 160)

  private struct Running {
    let repetition: Progress.Repetition
    let since: ContinuousClock.Instant
    var lastLine: ContinuousClock.Instant
  }

  /// A log that a CI system can fold, or one that nothing folds.
  init(folding: LogFolding?) {
    self.folding = folding
  }

  /// The lines to print, each with its newline; empty if there is nothing new.
  ///
  /// The `seconds` since 1970 are for the parts of a folded log.
  mutating func text(
    for progress: Progress,
    at now: ContinuousClock.Instant,
    seconds: Int
  ) -> String {
    switch progress {
    case .scenarioStarted(let name, let index, let total, let isAlone):
      let place = "scenario \(index) of \(total)"
      positions[name] = place
      guard isAlone else { return "" }
      return end(at: seconds) + begin("\(TerminalText.safe(name.text))  \(place)", index, at: seconds)
    case .repetitionStarted(let repetition):
      forget(repetition.scenario)
      running.append(Running(repetition: repetition, since: now, lastLine: now))
      return ""
    case .repetitionFinished(let repetition, _, _):
      forget(repetition.scenario)
      // The report follows at once, or says what was explained.
      let isLone = positions[repetition.scenario] == nil && repetition.of == 1
      guard !isLone, !repetition.purpose.isProfiled else { return "" }
      return line(ProgressReport.line(progress, style: Self.style), of: repetition.scenario)
    case .scenarioFinished(let scenario):
      forget(scenario.name)
      let hasSection = section != nil
      return end(at: seconds) + (hasSection ? ProgressReport.line(progress, style: Self.style) + "\n" : "")
    }
  }

  /// A line about each running repetition whose last line is ten seconds old.
  mutating func waitingText(at now: ContinuousClock.Instant) -> String {
    var text = ""
    for index in running.indices where now - running[index].lastLine >= Self.interval {
      running[index].lastLine = now
      let time = Format.time(.seconds((now - running[index].since).components.seconds))
      let repetition = running[index].repetition
      let start = ProgressReport.line(.repetitionStarted(repetition), style: Self.style)
      text += line("\(start)  running for \(time)", of: repetition.scenario)
    }
    return text
  }

  private mutating func forget(_ scenario: ScenarioName) {
    running.removeAll { $0.repetition.scenario == scenario }
  }

  /// Ends the part of the log that is still open, as after an interruption.
  mutating func endText(seconds: Int) -> String {
    running = []
    return end(at: seconds)
  }

  private func line(_ text: String, of scenario: ScenarioName) -> String {
    let line = text + (positions[scenario].map { "  \($0)" } ?? "")
    return TerminalText.withoutCommands(TerminalText.withPlainSpaces(line)) + "\n"
  }

  // MARK: Folding

  private mutating func begin(_ title: String, _ index: Int, at seconds: Int) -> String {
    guard let folding else { return "" }
    let section = LogFolding.Section(name: "highwater_\(seconds)_\(index)", title: title)
    self.section = section
    return folding.begin(section, seconds)
  }

  private mutating func end(at seconds: Int) -> String {
    guard let folding, let section else { return "" }
    self.section = nil
    return folding.end(section, seconds)
  }
}
