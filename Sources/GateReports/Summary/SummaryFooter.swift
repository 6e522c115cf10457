import GateCore

/// Where and how the figures were measured, and where to find them.
struct SummaryFooter {
  let result: RunResult
  let context: SummaryContext

  func write(to page: inout Page) {
    page.paragraph(environments, indent: 0, label: "environment  ")
    for (index, text) in measurements(page.style).enumerated() {
      page.paragraph(text, indent: 0, label: index == 0 ? "measured     " : "             ")
    }
    if let age = BaselineAge(of: result) {
      page.paragraph(age.text, indent: 0, label: "baselines    ")
    }
    if let path = context.resultPath {
      page.line(page.style.painted("result", .faint) + "       " + TerminalText.safe(path))
    }
    if let path = context.trendPath {
      page.line(page.style.painted("trend", .faint) + "        " + TerminalText.safe(path))
    }
  }

  var environments: String {
    let names = result.scenarios.map(\.environment.name)
    var seen: Set<String> = []
    let distinct = (names.isEmpty ? [result.environment.name] : names).filter { seen.insert($0).inserted }
    return distinct.map { TerminalText.safe($0) }.joined(separator: ", ")
  }

  /// For each method of measurement, how far its figures can be trusted.
  func measurements(_ style: TerminalStyle) -> [String] {
    var seen: Set<String> = []
    let methods = result.scenarios.map(\.environment.fingerprint.measurement).filter { seen.insert($0).inserted }
    return methods.map { method in
      let scenarios = result.scenarios.filter { $0.environment.fingerprint.measurement == method }
      let words = MeasurementWords(
        method: method,
        counters: scenarios.compactMap(\.environment.counters).max { $0.bound < $1.bound },
        repetitions: scenarios.flatMap(\.repetitions)
      )
      let share = "\(scenarios.count) of \(Format.count(result.scenarios.count, "scenario"))"
      let name = TerminalText.safe(method) + (methods.count > 1 ? " (\(share))" : "")
      return ([name] + words.parts + treeWords(of: scenarios)).joined(separator: style.separator)
    }
  }

  /// What the figures of trees count, where such are judged.
  private func treeWords(of scenarios: [ScenarioResult]) -> [String] {
    let judging = scenarios.filter { scenario in
      scenario.metrics.contains { [.treePeak, .treeSteady].contains($0.rule.metric) && $0.rule.severity != .off }
    }
    let found = Set(judging.flatMap(\.repetitions).map(\.treeMethod))
    let words = TreeMethod.allCases.filter(found.contains).map(\.words)
    return words.isEmpty ? [] : ["tree figures: \(words.joined(separator: "; or "))"]
  }
}
