import GateCore

/// A run in Markdown, for the summary of a GitHub step and for comments on pull and merge requests.
///
/// The most important comes first. What does not fit is left out from the end, and counted.
enum MarkdownReport {
  static let row = ReportFormatRow(
    purpose: "a comment on a pull or merge request, a summary", fileExtension: "md", hasOwnEscapes: false
  ) { result, context in
    text(result, context: context)
  }

  /// In bytes; a comment on GitHub may have 65,536 characters, and other systems permit more.
  static let mostBytes = 60_000

  /// Of these, for the table of what did not simply pass.
  private static let mostOfTable = 20_000
  /// Of these, for the last line.
  private static let reserve = 400

  static func text(_ result: RunResult, context: SummaryContext) -> String {
    let parts = MarkdownParts(result: result, context: context)
    var page = LimitedText(most: mostBytes - reserve)
    page.add(parts.head)
    page.add(parts.table(of: parts.notable, most: mostOfTable))
    page.add(parts.nextSteps)
    let details = parts.notable.enumerated().prefix { page.add(parts.details(of: $1, isOpen: $0 < parts.mostOpen)) }
    page.add(parts.sharedNotes)
    page.add(parts.passing(most: page.left))
    page.add(parts.measurement)
    let omitted = parts.notable.count - details.count
    let rest =
      omitted > 0 ? "\nThe details of \(Format.count(omitted, "more scenario")) are in the result file.\n" : ""
    return page.text + rest
  }
}

/// A text to which parts are added as long as they fit.
private struct LimitedText {
  private(set) var text = ""
  private(set) var left: Int

  init(most: Int) {
    left = most
  }

  /// Adds a part, by default after an empty line; false if it does not fit.
  @discardableResult
  mutating func add(_ part: String, after separator: String = "\n") -> Bool {
    guard !part.isEmpty else { return true }
    let part = text.isEmpty ? part : separator + part
    guard part.utf8.count <= left else { return false }
    text += part
    left -= part.utf8.count
    return true
  }
}

/// The parts of the report; each ends with a newline, or is empty.
private struct MarkdownParts {
  let context: SummaryContext
  let result: RunResult
  /// What did not simply pass, the worst first.
  let notable: [ScenarioResult]
  private let others: [ScenarioResult]
  private let notes: NoteList

  /// The number of scenarios whose details need no click.
  let mostOpen = 3

  private static let style = TerminalStyle(width: 200)
  private static let mostSentences = 20
  private static let mostOfSentence = 1000
  private static let outputLines = 12
  private static let mostOfLine = 200

  init(result: RunResult, context: SummaryContext) {
    (self.result, self.context) = (result, context)
    let ranked = Verdict.precedence.flatMap { verdict in result.scenarios.filter { $0.verdict == verdict } }
    let isPlain = { (scenario: ScenarioResult) in
      scenario.verdict == .pass && !scenario.metrics.contains(where: \.isWarning)
    }
    (notable, others) = (ranked.filter { !isPlain($0) }, ranked.filter(isPlain))
    notes = NoteList(result.scenarios, detail: .normal)
  }

  // MARK: Head

  /// A hidden line by which a later run finds this comment, the verdict, and what was tested.
  var head: String {
    let notes = result.run.notes.filter { !$0.isRoutine }.map { "\n**\(MarkdownText.prose(cut($0.text)))**\n" }
    let verdict = result.verdict == .pass ? "✓ pass" : result.verdict.heading(Self.style)
    return """
      <!-- highwater: \(name) -->
      ### \(verdict): \(MarkdownText.prose(summaryLine(result)))

      \(facts.joined(separator: " · "))

      """ + notes.joined()
  }

  /// The project file and the environment: what one job checks again and again.
  private var name: String {
    let name = [context.projectFile, result.environment.name].compactMap(\.self).joined(separator: " ")
    // A comment ends at `-->`.
    let plain = name.prefix(300).map { character in
      let isPlain = character.isASCII && (character.isLetter || character.isNumber || "._/ -=,".contains(character))
      return isPlain ? character : "_"
    }
    return String(plain)
  }

  private var facts: [String] {
    let run = result.run
    let names: [(String, String?)] = [
      ("environment", result.environment.name), ("commit", run.commitText()), ("branch", run.branch),
      ("pull request", run.pullRequest), ("shard", run.shard.map { "\($0.index)/\($0.count)" }),
    ]
    let shown = names.compactMap { label, name in name.map { "\(label) \(MarkdownText.code(cut($0, to: 100)))" } }
    let link = PageWords.link(run.buildURL).map(MarkdownText.link)
    let time = run.duration > .zero ? "took \(MarkdownText.prose(Format.time(run.duration)))" : nil
    return shown + [link, time].compactMap(\.self)
  }

  // MARK: Table

  /// On a phone only the first columns are seen at once.
  private static let titles: [(title: String, isNumber: Bool)] = [
    ("verdict", false), ("scenario and metric", false), ("change", false), ("before", true), ("now", true),
    ("allowed", true),
  ]

  /// The judged metrics of the scenarios, as long as their rows fit.
  func table(of scenarios: [ScenarioResult], most: Int) -> String {
    guard !scenarios.isEmpty else { return "" }
    var text = LimitedText(most: most - 200)
    let shown = scenarios.prefix { text.add(rows(of: $0).joined(), after: "") }
    let omitted = scenarios.count - shown.count
    return MarkdownText.table(Self.titles, []) + text.text
      + (omitted > 0 ? "\n\(Format.count(omitted, "more scenario")) in the result file.\n" : "")
  }

  /// The metrics that decided come first; the values of a failed scenario mean little.
  private func rows(of scenario: ScenarioResult) -> [String] {
    let metrics = scenario.verdict == .failed ? [] : scenario.metrics
    guard !metrics.isEmpty else {
      return [MarkdownText.row([word(scenario.verdict), MarkdownText.code(scenario.name.text), "", "", "", ""])]
    }
    let decisive = metrics.filter { $0.verdict == scenario.verdict }
    return (decisive + metrics.filter { $0.verdict != scenario.verdict }).map { row(of: $0, in: scenario) }
  }

  private func row(of metric: MetricResult, in scenario: ScenarioResult) -> String {
    let row = MetricTable(scenario: scenario, metrics: scenario.metrics).row(metric, Self.style)
    let name = "\(MarkdownText.code(scenario.name.text)) \(MarkdownText.code(row.label))"
    let change = row.percent.isEmpty ? row.change : "\(row.change) (\(row.percent))"
    let verdict = metric.isWarning ? Format.glued("? warning") : word(metric.verdict)
    return MarkdownText.row([verdict, name] + [change, row.baseline, row.now, row.allowed].map(MarkdownText.prose))
  }

  private func word(_ verdict: Verdict) -> String {
    let word = Format.glued(verdict.heading(Self.style))
    return verdict == .regression ? "**\(word)**" : word
  }

  // MARK: Next steps

  var nextSteps: String {
    let steps = NextSteps(result: result, context: context)
    let commands = steps.suggestions.map { step in
      let command = ShellWords.line(step.words)
      return MarkdownText.line(cut(step.purpose)) + "\n" + MarkdownText.block([command], of: "sh")
    }
    let advice = (steps.advice + [steps.downloadAdvice].compactMap(\.self)).map { MarkdownText.line(cut($0)) + "\n" }
    guard !commands.isEmpty || !advice.isEmpty else { return "" }
    return MarkdownText.folded("What to do next", (commands + advice).joined(separator: "\n"), isOpen: true)
  }

  // MARK: Scenarios

  func details(of scenario: ScenarioResult, isOpen: Bool) -> String {
    let block = ScenarioBlock(scenario: scenario, context: context, notes: notes)
    let reasons =
      block.reasons
      + [
        scenario.explanation.map { "\($0.label): \($0.text)" }, block.changesText.map { "by change: \($0)" },
        block.compositionText.map { "by kind at the end: \($0)" },
      ].compactMap(\.self)
    var parts = [list(reasons)]
    if let function = scenario.explanation?.changes?.functions.first, !function.diff.isEmpty {
      parts.append(MarkdownText.block(function.diff.map { cut($0, to: Self.mostOfLine) }, of: "diff"))
    }
    if scenario.verdict == .regression, let curves = MarkdownCurves(scenario) {
      parts.append(MarkdownText.block(curves.lines, of: "text"))
    }
    let output = OutputLines.of(scenario.failure?.output ?? "").suffix(Self.outputLines)
    if !output.isEmpty {
      parts.append("Last output:\n\n" + MarkdownText.block(output.map { cut($0, to: Self.mostOfLine) }, of: "text"))
    }
    parts.append(list(notes.own(of: scenario).map { "note: \($0)" }))
    let title = "\(scenario.verdict.heading(Self.style)) \(MarkdownText.element(scenario.name.text))"
    return MarkdownText.folded(title, parts.filter { !$0.isEmpty }.joined(separator: "\n"), isOpen: isOpen)
  }

  var sharedNotes: String { list(notes.shared.map { "note: \($0)" }) }

  private func list(_ sentences: [String]) -> String {
    let shown = sentences.prefix(Self.mostSentences).map { MarkdownText.line(cut($0)) }
    let rest = sentences.count - shown.count
    return (shown + (rest > 0 ? ["and \(rest) more"] : [])).map { "- \($0)\n" }.joined()
  }

  private func cut(_ text: String, to limit: Int = mostOfSentence) -> String {
    TerminalText.cut(text, to: limit, at: .middle, mark: "…")
  }

  // MARK: The rest

  func passing(most: Int) -> String {
    guard !others.isEmpty else { return "" }
    return MarkdownText.folded(
      "\(Format.count(others.count, "scenario")) without a finding", table(of: others, most: most - 300))
  }

  /// How the values were measured, and where they are.
  var measurement: String {
    let footer = SummaryFooter(result: result, context: context)
    let facts: [(String, String?)] = [
      ("environment", footer.environments), ("measured", footer.measurements(Self.style).joined(separator: "; ")),
      ("baselines", BaselineAge(of: result)?.text), ("result", context.resultPath.map { "`\($0)`" }),
      ("trend", context.trendPath.map { "`\($0)`" }), ("flame graph", context.explanationPath.map { "`\($0)`" }),
    ]
    let texts = facts.compactMap { label, text in text.map { "\(label): \($0)" } }
    return MarkdownText.folded("How it was measured", list(texts))
  }
}
