import GateCore

enum ScenarioText {
  /// The keys of a scenario that differ, and if the commands do, both of them.
  static func changes(
    in keys: [String],
    commands: (before: String, after: String),
    labels: (before: String, after: String)
  ) -> String {
    let list = keys.map { "`\($0)`" }.joined(separator: ", ")
    guard commands.before != commands.after else { return list }
    return "\(list); \(labels.before): `\(cut(commands.before))`, \(labels.after): `\(cut(commands.after))`"
  }

  private static func cut(_ command: String) -> String {
    command.count > 200 ? command.prefix(200) + "…" : command
  }
}

extension ScenarioResult {
  /// The names of the two sides of a comparison, for columns and curves: those of a baseline, or as in `main` and `this`.
  var sides: (before: String, now: String) {
    guard let build = comparedBuild else { return ("baseline", "now") }
    let name = TerminalText.cut(TerminalText.safe(build), to: 14, at: .middle, mark: "…")
    return (name, "this")
  }

  /// The events that the target reported, in order of time, with the number of repetitions unless it is all of them.
  var eventTexts: [String] {
    let texts = repetitions.flatMap { $0.events.map(\.displayText).counted.map(\.element) }
    return texts.counted.map { text, count in
      let share = count < repetitions.count ? ", \(count) of \(repetitions.count) repetitions" : ""
      return TerminalText.safe(text) + share
    }
  }

  /// The values of a metric in all repetitions that have it.
  func values(of metric: MetricName) -> ValueSummary? {
    ValueSummary(instances?.metrics[metric] ?? repetitions.compactMap { $0.value(of: metric) })
  }

  /// How the repetitions ended, each different end once, with its evidence.
  var endTexts: [(text: String, evidence: String?)] {
    repetitions.map(\.end).counted.map { end, count in
      let share =
        repetitions.count > 1 ? ", \(count) of \(Format.count(repetitions.count, "repetition"))" : ""
      return (TerminalText.safe(end.displayText) + share, end.proofText.map { TerminalText.safe($0) })
    }
  }

  var highestSpike: RepetitionResult.Spike? {
    repetitions.compactMap(\.spike).max { $0.height < $1.height }
  }

  /// Whether a phase's peaks are exact, as in `exact in 4 of 5`.
  func exactness(ofPhase name: String) -> String {
    let phases = repetitions.flatMap(\.phases).filter { $0.name == name }
    let exact = phases.count(where: \.peakIsExact)
    return exact == 0 ? "sampled" : exact == phases.count ? "exact" : "exact in \(exact) of \(phases.count)"
  }
}
