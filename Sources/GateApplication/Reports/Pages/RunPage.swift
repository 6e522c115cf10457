import FoundationEssentials
import GateCore

/// The page of one check, comparison or recording: what happened, the reason for the verdict, and what to do next.
///
/// Its sentences and tables are those of the terminal report; in addition it has curves.
enum RunPage {
  static let row = ReportFormatRow(
    purpose: "a page with the memory curves", fileExtension: "html", hasOwnEscapes: true
  ) { result, context in
    text(result, context: context)
  }

  /// A whole HTML file.
  static func text(_ result: RunResult, context: SummaryContext) -> String {
    let scenarios = result.scenarios.sorted { rank($0) < rank($1) }
    let sections = scenarios.enumerated().map { index, scenario in
      RunPageScenario(
        index: index, count: scenarios.count, scenario: scenario, run: result.run, context: context)
    }
    let isRecording = context.command == .record
    var values: [String: Any] = [
      "facts": facts(of: result),
      "scenarios": sections.map(\.text),
      "generator": "\(Tool.name) \(Tool.version)",
      "made": result.run.startedAt.displayText,
    ]
    values["headline"] = isRecording ? "Memory of \(name(of: result))" : summaryLine(result)
    if !isRecording {
      values["verdict"] = result.verdict.rawValue
      values["symbol"] = result.verdict.symbol(RunPageScenario.style)
    }
    if PageText.chartScript != nil { values["library"] = "its curves are drawn by dygraphs (MIT licence)" }
    if sections.count > 1 { values["overview"] = ["entries": sections.map(\.entry)] }
    let data = "[\(sections.map { $0.isBrief ? "null" : $0.curves.data }.joined(separator: ","))]"
    return HTMLPage(
      title: title(of: result, isRecording: isRecording),
      body: PageTemplate.run.render(values),
      styles: [PageText.chartStyle].compactMap(\.self)
        + (["page.css", "run.css"] + (context.explanations.isEmpty ? [] : ["flame.css"])).map(PageText.named),
      scripts: [PageText.chartScript].compactMap(\.self)
        + (["charts.js", "run.js"] + (context.explanations.isEmpty ? [] : ["flame.js"])).map(PageText.named),
      data: data
    ).text()
  }

  /// The worst first, each in project file order.
  private static func rank(_ scenario: ScenarioResult) -> Int {
    Verdict.precedence.firstIndex(of: scenario.verdict) ?? 0
  }

  private static func name(of result: RunResult) -> String {
    TerminalText.safe(result.scenarios.first?.name.text ?? "nothing")
  }

  private static func title(of result: RunResult, isRecording: Bool) -> String {
    isRecording ? "\(name(of: result)): memory" : "\(result.verdict.rawValue): \(summaryLine(result))"
  }

  // MARK: Facts

  /// The run's subject, time and environment.
  private static func facts(of result: RunResult) -> [[String: Any]] {
    let run = result.run
    let footer = SummaryFooter(result: result, context: SummaryContext(exitCode: .pass))
    let commit = run.commitText(digits: 12).map { $0 + (run.subject.map { " \($0)" } ?? "") }
    let facts: [(String, String?, address: String?)] = [
      ("commit", commit, nil), ("branch", run.branch, nil), ("build", run.buildURL, PageWords.link(run.buildURL)),
      ("started", run.startedAt.displayText, nil),
      ("took", run.duration > .zero ? Format.time(run.duration) : nil, nil),
      ("environment", footer.environments, nil), ("machine", machine(result.environment.fingerprint), nil),
      ("measured", footer.measurements(RunPageScenario.style).joined(separator: "; "), nil),
      ("baselines", BaselineAge(of: result)?.text, nil),
      ("note", run.notes.filter { !$0.isRoutine }.map(\.text).joined(separator: "; "), nil),
    ]
    return facts.compactMap { label, text, address in
      guard let text, !text.isEmpty else { return nil }
      var fact: [String: Any] = ["label": label, "text": TerminalText.safe(text)]
      fact["address"] = address
      return fact
    }
  }

  private static func machine(_ fingerprint: Fingerprint) -> String {
    let cpus = Format.count(fingerprint.cpus, "CPU")
    return [fingerprint.architecture, cpus, "Linux \(fingerprint.kernel)", fingerprint.libc].joined(separator: ", ")
  }
}

extension Date {
  /// As in `2026-01-02 03:04 UTC`.
  fileprivate var displayText: String {
    let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space).year().month().day()
    return formatted(style.time(includingFractionalSeconds: false)).prefix(16) + " UTC"
  }
}

extension PageTemplate {
  static let run = PageTemplate("run")
  static let scenario = PageTemplate("scenario")
}
