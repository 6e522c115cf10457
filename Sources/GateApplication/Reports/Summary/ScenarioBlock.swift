import GateCore

/// The full report on one scenario in the summary.
struct ScenarioBlock {
  let scenario: ScenarioResult
  let context: SummaryContext
  let notes: NoteList

  private var isVerbose: Bool { context.detail == .verbose }

  func write(to page: inout TerminalPage) {
    page.heading(scenario.verdict.heading(page.style), scenario.verdict.tone, name: scenario.name)
    if scenario.verdict == .failed || scenario.failure != nil { writeFailure(to: &page) }
    if let missingBaseline { page.paragraph(missingBaseline, indent: 2) }
    let metrics = MetricTable(scenario: scenario, metrics: shownMetrics).table(page.style)
    metrics.write(to: &page, indent: 2, limits: [.max, 24, 12])
    page.list(sentences)
    if let suite = scenario.suite { write(suite, to: &page) }
    if let compositionText { page.paragraph(compositionText, indent: 2, label: "by kind at the end: ") }
    if let explanation = scenario.explanation {
      page.paragraph(explanation.text, indent: 2, label: "\(explanation.label): ")
    }
    if let changesText { page.paragraph(changesText, indent: 2, label: "by change: ") }
    if let unlistedText { page.paragraph(unlistedText, indent: 2) }
    if isVerbose || scenario.verdict == .inconclusive, let text = scenario.stopText { page.paragraph(text, indent: 2) }
    if isVerbose { writeRepetitions(to: &page) }
    for note in notes.own(of: scenario) { page.paragraph(TerminalText.safe(note), indent: 2, label: "note: ") }
  }

  /// The block as the lines of a plain text.
  func text(width: Int) -> String {
    var page = TerminalPage(TerminalStyle(width: width))
    write(to: &page)
    return page.text
  }

  /// Why the scenario has its verdict.
  var reasons: [String] {
    (scenario.failure == nil ? [] : failureTexts) + [missingBaseline].compactMap(\.self) + sentences
  }

  // MARK: Metrics

  /// The values of a failed scenario mean little.
  private var shownMetrics: [MetricResult] {
    guard !isVerbose else { return scenario.metrics }
    return scenario.verdict == .failed ? [] : scenario.metrics.filter { !isUnlisted($0) }
  }

  /// So many phases are listed although they pass.
  private static let mostPassingPhases = 8

  private func isUnlisted(_ metric: MetricResult) -> Bool {
    metric.metric.inPhase != nil && [.pass, .skipped].contains(metric.verdict) && hasManyPhases
  }

  private var hasManyPhases: Bool { scenario.metrics.count { $0.metric.inPhase != nil } > Self.mostPassingPhases }

  private var unlistedText: String? {
    let count = isVerbose ? 0 : scenario.metrics.count(where: isUnlisted)
    return count == 0 ? nil : "\(Format.count(count, "further metric")) of phases did not rise (--verbose lists them)"
  }

  private func write(_ suite: SuiteResult, to page: inout TerminalPage) {
    page.paragraph(suite.sizeText, indent: 2)
    let listed = scenario.metrics.count(where: \.metric.isOfTest)
    let others = suite.tests.count { [.regression, .inconclusive, .improved].contains($0.verdict) } - listed
    if others > 0 { page.paragraph("and \(Format.count(others, "other test")), which the result file has", indent: 2) }
    if isVerbose || scenario.verdict == .noBaseline { TestTable.heaviest(of: suite).write(to: &page, indent: 2) }
    for hint in suite.hints { page.paragraph(hint, indent: 2, label: "hint: ") }
  }

  /// Sentences on facts that the table lacks.
  var sentences: [String] {
    scenario.verdict == .failed ? [] : scenario.metrics.compactMap(sentence).map { TerminalText.safe($0) }
  }

  private func sentence(on metric: MetricResult) -> String? {
    switch metric.verdict {
    case .regression, .improved, .inconclusive:
      let detectable = isVerbose && metric.verdict != .inconclusive ? metric.detectableText : nil
      let parts = [metric.reasonText, spikeText(for: metric), peakText(for: metric), detectable].compactMap(\.self)
      return parts.isEmpty ? nil : parts.joined(separator: "; ")
    case .noBaseline: return metric.reason == .noBaseline ? nil : metric.reasonText
    case .pass where metric.metric == .limit: return isVerbose ? survivalText : nil
    case .pass, .skipped, .failed: return isVerbose ? metric.sensitivityText.map { "\(metric.metric): \($0)" } : nil
    }
  }

  private var survivalText: String? {
    scenario.limitedRun.map { run in
      let answer = "survives \(Format.amount(run.limit))"
      return [answer, run.timeText, run.evidenceText].compactMap(\.self).joined(separator: "; ")
    }
  }

  private func spikeText(for metric: MetricResult) -> String? {
    guard metric.metric == .spike, let spike = scenario.highestSpike else { return nil }
    return "the highest, \(Format.amount(spike.height)), came \(spike.circumstances)"
  }

  /// The first phase that reached the peak, or came so near to it that the difference means nothing.
  private func peakText(for metric: MetricResult) -> String? {
    guard metric.metric == .peakRSS, let shown = scenario.middleRepetition else { return nil }
    let repetition = scenario.repetitions[shown]
    guard let peak = repetition.metrics[.peakRSS] else { return nil }
    let least = peak - (metric.allowed ?? 0)
    let phase = repetition.phases.first { ($0.metrics[.peakRSS] ?? 0) >= least }
    return phase.map { "the peak came in phase \($0.name)" }
  }

  var missingBaseline: String? {
    guard scenario.verdict == .noBaseline else { return nil }
    let isMissing = scenario.metrics.allSatisfy { $0.baseline == nil }
    let environment = TerminalText.safe(scenario.environment.name)
    if scenario.baselineDefect != nil { return "no usable baseline for the environment \(environment)" }
    return isMissing ? "no baseline for the environment \(environment)" : "some metrics have no baseline yet"
  }

  // MARK: Failure

  private func writeFailure(to page: inout TerminalPage) {
    for (index, text) in failureTexts.enumerated() {
      page.paragraph(text, indent: 2, tone: index == 0 && scenario.failure != nil ? .bad : nil)
    }
    OutputLines.write(scenario.failure?.output ?? "", lines: isVerbose ? 40 : 12, to: &page)
    if let path = context.outputs[scenario.name] ?? context.outputFolder {
      page.line("  " + page.style.painted("whole output: ", .faint) + TerminalText.safe(path))
    }
  }

  /// What failed and where, and how the target ended, unless the failure already states it.
  var failureTexts: [String] {
    let (failure, end) = (scenario.failure, scenario.repetitions.last?.end)
    let isEndNamed = end.flatMap { failure?.names($0) } ?? false
    let texts = [
      failure?.displayText, failure?.place.map { "at \($0)" },
      isEndNamed ? nil : end.map { "the target ended: \($0.displayText)" }, end?.proofText.map { "evidence: \($0)" },
    ]
    return texts.compactMap(\.self).map { TerminalText.safe($0) }
  }

  // MARK: Composition and repetitions

  /// What the change consists of, if known.
  ///
  /// Compositions are read at the end: if memory was released before, they do not explain the verdict.
  var compositionText: String? {
    guard [.regression, .improved].contains(scenario.verdict), let before = scenario.reference?.composition,
      let now = scenario.composition
    else { return nil }
    let difference = Double((now.resident - before.resident).count)
    let explainsVerdict = scenario.metrics.contains { metric in
      guard metric.verdict == scenario.verdict, let shift = metric.change?.shift else { return false }
      return difference / shift >= 0.5
    }
    let text = CompositionChange(before: before, now: now).text
    return explainsVerdict && !text.isEmpty ? text : nil
  }

  /// Which function explains the rise, if it was profiled.
  var explanationText: String? { scenario.explanation?.text }

  /// What changed in the code on the call stack, or elsewhere.
  var changesText: String? { scenario.explanation?.changesText }

  private func writeRepetitions(to page: inout TerminalPage) {
    RepetitionTable(scenario: scenario).table.write(to: &page, indent: 2)
    if let last = scenario.repetitions.last {
      ProcessTable(repetition: last, title: "processes of the last repetition").write(to: &page)
    }
    for event in scenario.eventTexts { page.paragraph(event, indent: 2, label: "event: ") }
  }
}
