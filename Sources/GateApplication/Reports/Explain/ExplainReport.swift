import GateCore

/// The report of `explain`: which function holds what a process's memory rose by, and what holds the rest.
enum ExplainReport {
  /// The text; `path` is that of the page with the flame graphs.
  static func text(_ explanations: [Explanation], page path: String? = nil, style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    for explanation in explanations {
      page.gap()
      if let obstacle = explanation.obstacle { write(obstacle, of: explanation.scenario, to: &page) }
      guard let comparison = explanation.comparison else { continue }
      ExplainBlock(explanation, comparison).write(to: &page)
    }
    if let path {
      page.gap()
      page.line("flame graph: \(TerminalText.safe(path))")
    }
    return page.text
  }

  private static func write(_ obstacle: ExplanationObstacle, of scenario: ScenarioName, to page: inout TerminalPage) {
    page.paragraph(obstacle.text(of: scenario), indent: 0, label: "\(TerminalText.safe(scenario.text)): ", tone: .bad)
    guard case .failed(let failure) = obstacle else { return }
    for line in OutputLines.of(failure.output).suffix(20) { page.line("  \(line)") }
    guard PtraceAdvice.isNeeded(by: failure) else { return }
    page.paragraph("it \(PtraceAdvice.explainText)", indent: 2, label: "hint: ")
  }
}

/// The explanation of one scenario.
struct ExplainBlock {
  let scenario: ScenarioName
  let comparison: ProfileComparison
  var limits = ProfilerLimits()
  private var changes: CodeChanges?

  init(scenario: ScenarioName, comparison: ProfileComparison) {
    (self.scenario, self.comparison) = (scenario, comparison)
  }

  init(_ explanation: Explanation, _ comparison: ProfileComparison) {
    self.init(scenario: explanation.scenario, comparison: comparison)
    (limits, changes) = (explanation.limits, explanation.changes)
  }

  /// What changed in the code; nil if that is unknown.
  var changesText: String? {
    guard let changes, let finding = comparison.finding else { return nil }
    var explanation = RiseExplanation(comparison.explained, finding: finding)
    explanation.changes = changes
    return explanation.changesText
  }

  /// What explains the rise; of one build, how much its process held.
  var headline: String {
    if let finding = comparison.finding { return finding.text(of: comparison.explained) }
    return "\(Format.amount(Bytes(comparison.now.anonymous.median))) of anonymous memory \(comparison.explained.moment)"
  }

  /// The process, and how it was measured.
  var facts: [String] {
    let now = comparison.now
    let name = TerminalText.safe(now.startedAs)
    return [
      now.processes == 1
        ? "process: \(name)\(rankText), peak \(Format.amount(now.peak)) (VmHWM)"
        : "processes: \(name), \(now.processes) processes when they held most together; pages that they share count once",
      "method: \(now.method.text(repetitions: now.repetitions, samplingInterval: now.samplingInterval))",
    ] + otherMemory + limits.texts + [unnamedRuntime?.unnamedText].compactMap(\.self)
  }

  /// Which of several processes of one name it is.
  private var rankText: String {
    comparison.now.rank.map { $0 == 1 ? ", the largest of its name" : ", number \($0) of its name by size" } ?? ""
  }

  /// The runtime whose functions would be in the report if they had names and callers; they would not explain a collected
  /// heap.
  private var unnamedRuntime: CollectedRuntime? {
    // The sampler of V8 is loaded with these flags.
    if comparison.now.heap.isSampled, comparison.now.generatingRuntime == .node { return nil }
    return switch comparison.finding {
    case .other(.collectedHeap, _), .unsampledHeap: nil
    case .other(.live, _): comparison.now.generatingRuntime
    default: comparison.now.unnamedRuntime
    }
  }

  /// The memory that has no call stacks.
  private var otherMemory: [String] {
    let amounts = [("shared memory", \ProfileSummary.shared), ("mapped files", \.files)].compactMap { name, path in
      comparison.now[keyPath: path].flatMap { now in
        let change = comparison.before?[keyPath: path].map { before in
          now == before ? " (unchanged)" : " (\(Format.difference(Double((now - before).count))))"
        }
        return now > .zero ? "\(Format.amount(now)) of \(name)\(change ?? "")" : nil
      }
    }
    return amounts.isEmpty ? [] : ["not anonymous, so not explained: \(amounts.joined(separator: ", "))"]
  }

  func write(to page: inout TerminalPage) {
    page.paragraph(headline, indent: 0, label: "\(TerminalText.safe(scenario.text)): ", tone: tone)
    if let changesText { page.paragraph(changesText, indent: 2, label: "by change: ") }
    page.gap()
    MemoryPartTable(comparison: comparison).table(page.style).write(to: &page, indent: 2)
    page.gap()
    FunctionTable(comparison: comparison).table(page.style).write(to: &page, indent: 2, limits: [.max, 40, 24, 12])
    page.gap()
    for fact in facts { page.paragraph(fact, indent: 2, tone: .faint) }
  }

  private var tone: Tone? { comparison.finding?.culprit == nil ? nil : .bad }
}
