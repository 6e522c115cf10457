import GateCore

/// One scenario of the summary, told in full.
struct ScenarioDetail {
  let scenario: ScenarioResult
  let context: SummaryContext
  let notes: RunNotes

  /// How many of the last lines of output are shown.
  private var outputLines: Int { context.detail == .verbose ? 40 : 12 }

  func write(to page: inout Page) {
    writeHeading(to: &page)
    if scenario.verdict == .failed || scenario.failure != nil { writeFailure(to: &page) }
    if let missingBaseline { page.paragraph(missingBaseline, indent: 2) }
    MetricTable(scenario: scenario, metrics: shownMetrics, indent: 2).write(to: &page)
    for metric in scenario.metrics {
      guard let text = sentence(for: metric) else { continue }
      page.paragraph(text, indent: 2, label: page.style.unicode ? "• " : "* ")
    }
    writeComposition(to: &page)
    if context.detail == .verbose || scenario.verdict == .inconclusive, let reason = scenario.stoppingReason {
      page.paragraph(reason, indent: 2, label: "repetitions: ")
    }
    if context.detail == .verbose {
      writeRepetitions(to: &page)
      for event in scenario.eventTexts { page.paragraph(event, indent: 2, label: "event: ") }
    }
    let notes = notes.own(context.detail == .verbose ? scenario.allNotes : scenario.notes)
    for note in notes { page.paragraph(TerminalText.safe(note), indent: 2, label: "note: ") }
  }

  private func writeHeading(to page: inout Page) {
    let style = page.style
    let head = scenario.verdict.heading(style)
    let name = TerminalText.safe(scenario.name.text)
    if TerminalText.columns(head) + 2 + TerminalText.columns(name) <= style.width {
      page.line(style.painted(head, scenario.verdict.tone) + "  " + style.painted(name, .strong))
    } else {
      page.line(style.painted(head, scenario.verdict.tone))
      page.paragraph(name, indent: 2, tone: .strong)
    }
  }

  /// A failed scenario's figures mean little; they are shown only on demand.
  var shownMetrics: [MetricResult] {
    scenario.verdict == .failed && context.detail != .verbose
      ? [] : scenario.metrics.filter { $0.rule.severity != .off || context.detail == .verbose }
  }

  func sentence(for metric: MetricResult) -> String? {
    guard scenario.verdict != .failed, metric.rule.severity != .off else { return nil }
    let sentence = MetricSentence(metric: metric, scenario: scenario)
    guard context.detail == .verbose else { return sentence.text }
    let smallest = metric.detectable.map { detectable in
      "a change of \(Format.amount(detectable, unit: metric.unit)) would have been seen"
    }
    // What is tolerated stands in most sentences already.
    let sight = metric.verdict == .pass || metric.verdict == .improved ? sentence.sight : nil
    let parts = [sentence.text, sight, smallest].compactMap(\.self)
    guard !parts.isEmpty else { return nil }
    let name = sentence.text == nil ? TerminalText.safe(metric.rule.metric.text) + ": " : ""
    return name + parts.joined(separator: "; ")
  }

  // MARK: Failed

  private func writeFailure(to page: inout Page) {
    let end = scenario.repetitions.last?.end
    if let failure = scenario.failure {
      page.paragraph(TerminalText.safe(failure.displayText), indent: 2, tone: .bad)
      if let place = failure.place { page.line("  at \(TerminalText.safe(place.description))") }
    }
    if let ending { page.paragraph(ending, indent: 2) }
    if let proof = end?.proofText { page.paragraph(TerminalText.safe(proof), indent: 2, label: "evidence: ") }
    writeOutput(to: &page)
  }

  /// How the target ended, where the failure does not say so already.
  var ending: String? {
    guard let end = scenario.repetitions.last?.end, !isTold(end) else { return nil }
    return "target ended: " + TerminalText.safe(end.displayText)
  }

  /// Whether the failure says already how the target ended.
  private func isTold(_ end: End) -> Bool {
    guard let problem = scenario.failure?.problemText else { return false }
    return end.kind == .startFailed || problem.contains(end.displayText) || end.detailText.map(problem.contains) ?? false
  }

  private func writeOutput(to page: inout Page) {
    OutputTail.write(scenario.failure?.output ?? "", lines: outputLines, to: &page)
    if let path = context.outputs[scenario.name] ?? context.outputFolder {
      page.line("  " + page.style.painted("whole output: ", .faint) + TerminalText.safe(path))
    }
  }

  // MARK: No baseline

  var missingBaseline: String? {
    guard scenario.verdict == .noBaseline else { return nil }
    let isMissing = scenario.metrics.allSatisfy { $0.baseline == nil }
    let environment = TerminalText.safe(scenario.environment.name)
    return isMissing ? "no baseline for the environment \(environment)" : "some metrics have no baseline yet"
  }

  // MARK: What changed, and every repetition

  /// Compositions are of the end: where memory was given back before that, they do not show what the verdict is of.
  private func writeComposition(to page: inout Page) {
    guard [.regression, .improved].contains(scenario.verdict), let before = scenario.baselineComposition,
      let now = scenario.currentComposition
    else { return }
    let difference = Double((now.resident - before.resident).count)
    let isOfTheVerdict = scenario.metrics.contains { metric in
      guard metric.verdict == scenario.verdict, let shift = metric.change?.shift else { return false }
      return difference / shift >= 0.5
    }
    guard isOfTheVerdict else { return }
    let text = CompositionChange(before: before, now: now).text
    if !text.isEmpty { page.paragraph(text, indent: 2, label: "by kind: ") }
  }

  private func writeRepetitions(to page: inout Page) {
    RepetitionTable(scenario: scenario, indent: 2).write(to: &page)
    guard let last = scenario.repetitions.last else { return }
    ProcessTable(repetition: last, title: "processes of the last repetition").write(to: &page)
  }
}
