import GateCore

/// The selection of scenarios for a command.
struct Selection {
  /// Names, `tag:NAME`, and patterns with `*`; empty for all.
  let words: [String]

  /// The selected scenarios, in file order.
  ///
  /// A plain name also selects every member of its matrix.
  ///
  /// - Throws: an error for each word without a match.
  func scenarios(of project: Project) throws(RunnerError) -> [Scenario] {
    guard !words.isEmpty else {
      guard !project.scenarios.isEmpty else {
        throw RunnerError(
          problem: "the project has no scenarios", place: project.file, hint: "add one under `scenarios:`")
      }
      return project.scenarios
    }
    let names = project.scenarios.map(\.name.text)
    let unmatched = words.filter { word in !project.scenarios.contains { Self.matches(word, $0.name.text, $0.tags) } }
    guard unmatched.isEmpty else {
      throw RunnerError(unmatched.map { Self.diagnostic(about: $0, names: names, in: project) })
    }
    return project.scenarios.filter { scenario in
      words.contains { Self.matches($0, scenario.name.text, scenario.tags) }
    }
  }

  /// The selected scenarios without suites of tests, which only `check` and `approve` know.
  ///
  /// With `areStarted`, targets that run already are left out, too, unless they are named or nothing else is left.
  ///
  /// - Throws: also if only suites are selected.
  func programs(of project: Project, areStarted: Bool = false) throws(RunnerError) -> [Scenario] {
    let selected = try scenarios(of: project)
    let programs = selected.filter { $0.target.suite == nil }
    let started = areStarted && words.isEmpty ? programs.filter { $0.target.running == nil } : []
    guard started.isEmpty else { return started }
    guard programs.isEmpty, let suite = selected.first else { return programs }
    throw RunnerError(
      problem: "`\(suite.name)` is a suite of tests, and this command needs the scenario of a program",
      place: suite.place.map { "\($0)" } ?? project.file, hint: "`highwater check` runs suites")
  }

  /// Whether a word selects a scenario of this name.
  static func matches(_ word: String, _ name: String, _ tags: [String] = []) -> Bool {
    if word.hasPrefix("tag:") { return tags.contains(String(word.dropFirst(4))) }
    return NamePattern.matches(word, name)
  }

  private static func diagnostic(about word: String, names: [String], in project: Project) -> Diagnostic {
    let tags = Set(project.scenarios.flatMap(\.tags)).map { "tag:\($0)" }
    let closest = NearMiss.closest(to: word, among: names + tags)
    let hint = closest.map { "did you mean `\($0)`?" } ?? "`highwater validate` lists the scenarios"
    return Diagnostic(place: project.file, problem: "no scenario matches `\(word)`", hint: hint)
  }
}
