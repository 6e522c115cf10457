import GateCore

/// Where and how the figures were measured, and where to find them.
struct SummaryFooter {
  let result: RunResult
  let context: SummaryContext

  func write(to page: inout Page) {
    page.paragraph(environments, indent: 0, label: "environment  ")
    if let measurement { page.paragraph(measurement, indent: 0, label: "measured     ") }
    if let path = context.resultPath {
      page.line(page.style.painted("result", .faint) + "       " + TerminalText.safe(path))
    }
  }

  private var environments: String {
    let names = result.scenarios.map(\.environment.name)
    var seen: Set<String> = []
    let distinct = (names.isEmpty ? [result.environment.name] : names).filter { seen.insert($0).inserted }
    return distinct.map { TerminalText.safe($0) }.joined(separator: ", ")
  }

  private var judgesTrees: Bool {
    result.scenarios.flatMap(\.metrics).contains { [.treePeak, .treeSteady].contains($0.rule.metric) }
  }

  /// How far the figures can be trusted; nil where no scenario was sampled.
  private var measurement: String? {
    let sampled = result.scenarios.filter { $0.environment.fingerprint.measurement == Rung.sampled.rawValue }
    guard !sampled.isEmpty else { return nil }
    let gap = sampled.flatMap(\.repetitions).map(\.widestGap).max() ?? .zero
    let missed = gap > .zero ? "in the last \(Figures.time(gap))" : "in the last moments"
    let widest = gap > .zero ? " (the widest gap between two readings)" : ""
    return "by readings of /proc: a peak is VmHWM as last read, so a rise \(missed) before a process ends can be "
      + "missed\(widest)\(judgesTrees ? "; tree figures count a page once for each process that shares it" : "")"
  }
}
