package import GateCore

/// The report of `explain`: which function holds what a process's memory rose by, and what holds the rest.
package enum ExplainReport {
  package static func text(
    _ comparisons: [(scenario: ScenarioName, comparison: ProfileComparison)], style: TerminalStyle
  ) -> String {
    var page = TerminalPage(style)
    for (scenario, comparison) in comparisons {
      page.gap()
      ExplainBlock(scenario: scenario, comparison: comparison).write(to: &page)
    }
    return page.text
  }
}

/// The explanation of one scenario.
struct ExplainBlock {
  let scenario: ScenarioName
  let comparison: ProfileComparison

  /// What explains the rise; of one build, how much its process held.
  var headline: String {
    if let finding = comparison.finding { return finding.text }
    return "\(Format.amount(Bytes(comparison.now.anonymous.median))) of anonymous memory at the peak"
  }

  /// The process, and how it was measured.
  var facts: [String] {
    let now = comparison.now
    return [
      "process: \(TerminalText.safe(now.process)), peak \(Format.amount(now.peak)) (VmHWM)",
      "method: \(now.method.text(repetitions: now.repetitions, samplingInterval: now.samplingInterval))",
    ]
  }

  func write(to page: inout TerminalPage) {
    page.paragraph(headline, indent: 0, label: "\(TerminalText.safe(scenario.text)): ", tone: tone)
    page.gap()
    MemoryPartTable(comparison: comparison).table(page.style).write(to: &page, indent: 2)
    page.gap()
    FunctionTable(comparison: comparison).table(page.style).write(to: &page, indent: 2, limits: [.max, 40, 24, 12])
    page.gap()
    for fact in facts { page.paragraph(fact, indent: 2, tone: .faint) }
  }

  private var tone: Tone? { comparison.finding?.culprit == nil ? nil : .bad }
}
