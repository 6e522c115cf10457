import GateCore

/// The notes of some scenarios; what several of them say alike is told once.
struct RunNotes {
  private let scenarios: [ScenarioResult]
  /// How many scenarios have each note.
  private let counts: [String: Int]

  /// More names than these are counted.
  private static let mostNames = 3

  init(_ scenarios: [ScenarioResult]) {
    self.scenarios = scenarios
    counts = scenarios.flatMap { Set($0.notes) }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  /// Those of the scenario's notes that no other one has.
  func own(_ notes: [String]) -> [String] {
    notes.filter { counts[$0, default: 1] == 1 }
  }

  /// Writes what each of these scenarios alone has to say, with its name.
  func writeOwn(of scenarios: [ScenarioResult], to page: inout Page) {
    let notes = scenarios.flatMap { scenario in own(scenario.notes).map { "\(scenario.name.text): \($0)" } }
    Self.write(notes, to: &page)
  }

  /// Writes what several scenarios say alike, with their names unless all of them do.
  func writeShared(to page: inout Page) {
    var seen: Set<String> = []
    let shared = scenarios.flatMap(\.notes).filter { counts[$0, default: 1] > 1 && seen.insert($0).inserted }
    let texts = shared.map { note in
      let names = scenarios.filter { $0.notes.contains(note) }.map(\.name.text)
      let isFew = names.count <= Self.mostNames
      let subject = isFew ? names.joined(separator: ", ") : Format.count(names.count, "scenario")
      return names.count == scenarios.count ? note : "\(subject): \(note)"
    }
    Self.write(texts, to: &page)
  }

  private static func write(_ notes: [String], to page: inout Page) {
    if !notes.isEmpty { page.gap() }
    for note in notes { page.paragraph(TerminalText.safe(note), indent: 0, label: "note: ") }
  }
}

extension ScenarioResult {
  /// All notes, those of single repetitions too; what several of these say alike stands in the scenario's own already,
  /// with their count behind it.
  var allNotes: [String] {
    var seen: Set<String> = []
    let others = repetitions.flatMap { $0.notes.map(\.displayText) }.filter { note in
      !notes.contains { $0.hasPrefix(note) } && seen.insert(note).inserted
    }
    return notes + others
  }
}
