import GateCore

/// Where and how the values were measured, and where they are stored.
struct SummaryFooter {
  let result: RunResult
  let context: SummaryContext

  /// For a run that passed, facts that are the same in every run are left out.
  func write(to page: inout TerminalPage) {
    let isFull = context.detail == .verbose || context.exitCode != .pass
    let measured = isFull ? measurements(page.style) : []
    let age = BaselineAge(of: result).flatMap { isFull || $0.isOld ? $0.text : nil }
    page.paragraph(environments, indent: 0, label: "environment  ")
    for (index, text) in measured.enumerated() {
      page.paragraph(text, indent: 0, label: index == 0 ? "measured     " : "             ")
    }
    if isFull, let times { page.paragraph(times, indent: 0, label: "time         ") }
    if let age { page.paragraph(age, indent: 0, label: "baselines    ") }
    let files = [
      ("result       ", context.resultPath), ("trend        ", context.trendPath),
      ("flame graph  ", context.explanationPath),
    ]
    for (label, path) in files {
      if let path { page.line(page.style.painted(label, .faint) + TerminalText.safe(path)) }
    }
  }

  /// Where the time of the measurement went; nil if it is unknown.
  private var times: String? {
    let sum = result.scenarios.reduce(into: TimeUse()) { $0 += $1.times }
    guard sum.total > .zero else { return nil }
    let parts = [
      ("targets", sum.target), ("readiness", sum.readiness), ("settling", sum.settling), ("waiting", sum.waiting),
      ("setup and teardown", sum.commands), ("explaining", sum.explaining), (Tool.name, sum.overhead),
    ]
    let shown = parts.filter { $0.1 >= .milliseconds(1) }.map { "\($0.0) \(Format.time($0.1))" }
    return "\(Format.time(sum.total)): \(shown.joined(separator: ", "))"
  }

  var environments: String {
    let names = result.scenarios.map(\.environment.name)
    var seen: Set<String> = []
    let distinct = (names.isEmpty ? [result.environment.name] : names).filter { seen.insert($0).inserted }
    return distinct.map { TerminalText.safe($0) }.joined(separator: ", ")
  }

  /// The accuracy of the values for each measurement method.
  func measurements(_ style: TerminalStyle) -> [String] {
    var seen: Set<String> = []
    let methods = result.scenarios.map(\.environment.fingerprint.measurement).filter { seen.insert($0).inserted }
    return methods.map { method in
      let scenarios = result.scenarios.filter { $0.environment.fingerprint.measurement == method }
      let text = MeasurementText(
        method: method,
        counters: scenarios.compactMap(\.environment.counters).max { $0.bound < $1.bound },
        repetitions: scenarios.flatMap(\.repetitions)
      )
      let share = "\(scenarios.count) of \(Format.count(result.scenarios.count, "scenario"))"
      let name = TerminalText.safe(method) + (methods.count > 1 ? " (\(share))" : "")
      return ([name] + text.parts + treeTexts(of: scenarios)).joined(separator: style.separator)
    }
  }

  /// How process trees were counted, if their values are judged.
  private func treeTexts(of scenarios: [ScenarioResult]) -> [String] {
    let judging = scenarios.filter { scenario in
      scenario.metrics.contains { $0.metric.isOfTree && $0.isGated }
    }
    let found = Set(judging.flatMap(\.repetitions).map(\.treeMethod))
    let texts = TreeMethod.allCases.filter(found.contains).map(\.displayText)
    return texts.isEmpty ? [] : ["process tree: \(texts.joined(separator: "; or "))"]
  }
}
