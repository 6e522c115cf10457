import GateCore

extension ScenarioResult {
  /// Why the scenario has its verdict, in one line without control characters.
  func message(in context: SummaryContext) -> String {
    let block = ScenarioBlock(scenario: self, context: context, notes: NoteList([self], detail: context.detail))
    let decisive = summary.metrics.filter { $0.verdict == summary.verdict && !$0.isWarning }.compactMap(\.reasonText)
    var reasons = failure == nil ? [block.missingBaseline].compactMap(\.self) : Array(block.failureTexts.prefix(1))
    if reasons.isEmpty { reasons = decisive }
    if let explanation = summary.explanation, explanation.finding.culprit != nil { reasons.append(explanation.text) }
    if let changes = summary.explanation?.changesText { reasons.append(changes) }
    if reasons.isEmpty || [.noBaseline, .skipped].contains(summary.verdict) { reasons += block.notes.own(of: self) }
    return Self.line(reasons.isEmpty ? summary.verdict.rawValue : reasons.joined(separator: "; "))
  }

  /// Why one of its metrics has its verdict.
  func message(on metric: MetricResult) -> String {
    Self.line(metric.reasonText ?? "\(metric.metric): \(metric.verdict.rawValue)")
  }

  /// Where a change explains the verdict: its most likely place in the code; nil if none is known.
  var changedPlace: SourcePlace? {
    summary.explanation?.changes?.functions.first.map { SourcePlace(file: $0.file, line: max(1, $0.line), column: 1) }
  }

  private static let most = 1000

  private static func line(_ text: String) -> String {
    TerminalText.withPlainSpaces(TerminalText.cut(TerminalText.safe(text), to: most, mark: "…"))
  }
}
