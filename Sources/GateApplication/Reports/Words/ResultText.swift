package import GateCore

/// The texts in a result file that describe its values.
package enum ResultText {
  package static func reason(of metric: MetricResult) -> String? {
    metric.reasonText.map(TerminalText.withPlainSpaces)
  }

  package static func note(_ note: Note, in scenario: ScenarioResult) -> String {
    TerminalText.withPlainSpaces(note.text(in: scenario))
  }

  package static func runNote(_ note: RunNote) -> String { TerminalText.withPlainSpaces(note.text) }
  package static func recordingNote(_ note: RecordingNote) -> String { note.displayText }
  package static func explanation(_ explanation: RiseExplanation) -> String {
    let texts = [explanation.text, explanation.changesText].compactMap(\.self)
    return TerminalText.withPlainSpaces(texts.joined(separator: "; "))
  }
  package static func outcome(of run: LimitedRun) -> String { TerminalText.withPlainSpaces(run.outcomeText) }
  package static func failure(_ failure: Failure) -> String { failure.displayText }
  package static func end(_ end: End) -> (text: String, proof: String?, detail: String?) {
    (end.displayText, end.proofText, end.detailText)
  }
}
