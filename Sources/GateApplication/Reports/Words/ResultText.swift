import GateCore

/// The texts in a result file that describe its values.
enum ResultText {
  static func reason(of metric: MetricResult) -> String? {
    metric.reasonText.map(TerminalText.withPlainSpaces)
  }

  static func note(_ note: Note, in scenario: ScenarioResult) -> String {
    TerminalText.withPlainSpaces(note.text(in: scenario))
  }

  static func runNote(_ note: RunNote) -> String { TerminalText.withPlainSpaces(note.text) }
  static func recordingNote(_ note: RecordingNote) -> String { note.displayText }
  static func explanation(_ explanation: RiseExplanation) -> String {
    let texts = [explanation.text, explanation.changesText].compactMap(\.self)
    return TerminalText.withPlainSpaces(texts.joined(separator: "; "))
  }
  static func outcome(of run: LimitedRun) -> String { TerminalText.withPlainSpaces(run.outcomeText) }
  static func failure(_ failure: Failure) -> String { failure.displayText }
  static func end(_ end: End) -> (text: String, proof: String?, detail: String?) {
    (end.displayText, end.proofText, end.detailText)
  }
}
