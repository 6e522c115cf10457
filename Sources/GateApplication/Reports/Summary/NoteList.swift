import GateCore

/// The notes of several scenarios; shared notes are written once.
struct NoteList {
  private let scenarios: [ScenarioResult]
  private let detail: SummaryContext.Detail
  /// The number of scenarios that have each note.
  private let counts: [Note: Int]
  /// The hidden growth of several scenarios, which one note tells together.
  private let hidden: [(scenario: String, growth: HiddenGrowth)]

  /// The maximum number of names; more are only counted.
  private static let mostNames = 3
  /// The maximum number of notes on passing scenarios.
  private static let mostOwn = 50

  init(_ scenarios: [ScenarioResult], detail: SummaryContext.Detail) {
    (self.scenarios, self.detail) = (scenarios, detail)
    counts = scenarios.flatMap { Set($0.notes) }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    let hidden = scenarios.flatMap { scenario in
      scenario.notes.compactMap { note in note.hiddenGrowth.map { (scenario: scenario.name.text, growth: $0) } }
    }
    self.hidden = hidden.count > 1 && detail != .verbose ? hidden : []
  }

  /// The shown notes that only this scenario has, and those of its suite.
  func own(of scenario: ScenarioResult) -> [String] {
    let ofSuite = scenario.suite?.notes(atMost: detail == .verbose ? .max : Self.mostNames) ?? []
    return shown(of: scenario).filter { counts[$0, default: 1] == 1 }.map { $0.text(in: scenario) } + ofSuite
  }

  /// Writes notes that only one of these scenarios has, with its name.
  func writeOwn(of scenarios: [ScenarioResult], to page: inout TerminalPage) {
    let texts = scenarios.flatMap { scenario in own(of: scenario).map { "\(scenario.name): \($0)" } }
    let more = texts.count - Self.mostOwn
    Self.write(more > 0 ? texts.prefix(Self.mostOwn) + ["\(more) others: see the result file"] : texts, to: &page)
  }

  /// Writes ``shared``.
  func writeShared(to page: inout TerminalPage) {
    Self.write(shared, to: &page)
  }

  /// Writes the notes on the run as a whole.
  static func write(of run: RunInfo, detail: SummaryContext.Detail, to page: inout TerminalPage) {
    write(run.notes.filter { detail == .verbose || !$0.isRoutine }.map(\.text), to: &page)
  }

  /// The notes that several scenarios have, with their names unless all have them.
  var shared: [String] {
    let shared = scenarios.flatMap(shown).counted.map(\.element).filter { counts[$0, default: 1] > 1 }
    return (hidden.isEmpty ? [] : [hiddenText])
      + shared.map { note in
        let holders = scenarios.filter { $0.notes.contains(note) }
        let names = holders.map(\.name.text).joined(separator: ", ")
        let subject = holders.count <= Self.mostNames ? names : Format.count(holders.count, "scenario")
        let text = note.text(in: holders[0])
        return holders.count == scenarios.count ? text : "\(subject): \(text)"
      }
  }

  private var hiddenText: String {
    let all = hidden.sorted { ($1.growth.upTo, $0.scenario) < ($0.growth.upTo, $1.scenario) }.map { scenario, growth in
      "\(scenario) \(Format.amount(growth.upTo))"
    }
    let more = all.count > Self.mostNames ? " and \(Format.count(all.count - Self.mostNames, "other"))" : ""
    return "leaks of up to this much per iteration cannot be seen here: "
      + all.prefix(Self.mostNames).joined(separator: ", ") + more + "; `--verbose` shows why"
  }

  /// For a passing scenario, notes that are true of every run are not repeated.
  private func shown(of scenario: ScenarioResult) -> [Note] {
    if detail == .verbose { return scenario.allNotes }
    let isQuiet = scenario.verdict == .pass && !scenario.metrics.contains(where: \.isWarning)
    let notes = hidden.isEmpty ? scenario.notes : scenario.notes.filter { $0.hiddenGrowth == nil }
    return isQuiet ? notes.filter { !$0.isRoutine } : notes
  }

  private static func write(_ texts: [String], to page: inout TerminalPage) {
    if !texts.isEmpty { page.gap() }
    for text in texts { page.paragraph(TerminalText.safe(text), indent: 0, label: "note: ") }
  }
}

extension ScenarioResult {
  /// The scenario's notes, plus those of single repetitions.
  var allNotes: [Note] {
    let known = Set(
      notes.compactMap { note -> RecordingNote? in
        if case .recording(let note, _, _) = note { note } else { nil }
      })
    let others = repetitions.flatMap(\.notes).counted.filter { !known.contains($0.element) }
    return notes + others.map { .recording(note: $0.element, count: $0.count, total: repetitions.count) }
  }
}

extension Note {
  fileprivate var hiddenGrowth: HiddenGrowth? {
    if case .hiddenGrowth(let growth) = self { growth } else { nil }
  }
}
