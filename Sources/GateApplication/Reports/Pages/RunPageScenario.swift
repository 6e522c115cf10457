import GateCore

/// One scenario of the run page.
struct RunPageScenario {
  /// Its index on the page, and the number of scenarios.
  let index: Int
  let count: Int
  let scenario: ScenarioResult
  let run: RunInfo
  let context: SummaryContext

  /// A page is wide and shows every character.
  static let style = TerminalStyle(width: 200)

  /// Pictures of thousands of scenarios would make a page that no browser likes to open.
  private static let mostDetailed = 100
  /// Whether the page has no pictures of the scenario, since there are many that are worse.
  var isBrief: Bool { index >= Self.mostDetailed }

  /// The number of last lines of a failed program's output.
  private static let outputLines = 25

  private var id: String { "scenario-\(index + 1)" }
  private var name: String { TerminalText.safe(scenario.name.text) }
  private var isRecording: Bool { context.command == .record }

  var curves: RunPageCurves { RunPageCurves(scenario: scenario) }

  /// The scenario's entry in the list of all scenarios.
  var entry: [String: Any] {
    ["id": id, "name": name, "values": mainValue].merging(heading) { $1 }
  }

  private var heading: [String: Any] {
    ["verdict": scenario.verdict.rawValue, "symbol": scenario.verdict.symbol(Self.style)]
  }

  var text: String {
    var values: [String: Any] = ["id": id, "name": name, "values": mainValue, "open": isOpen]
    // A recorded command has no verdict.
    if !isRecording || scenario.failure != nil { values.merge(heading) { $1 } }
    values["sentences"] = sentences
    if let output { values["output"] = output }
    values["valueTable"] = valueTable
    values["comparison"] = !isRecording && MetricTable(scenario: scenario, metrics: scenario.metrics).hasBaseline
    values["remarks"] = ValueTable(scenario: scenario).remarks.map { ["label": $0.label, "text": $0.text] }
    values["brief"] = isBrief
    if !isBrief {
      values["curve"] = curves.values(index: index)
      values["composition"] = composition
    }
    values["explanation"] = context.explanations[scenario.name].map { explanation in
      ExplainPart(block: ExplainBlock(scenario: scenario.name, comparison: explanation)).text
    }
    values["processes"] = processes
    values["repetitions"] = repetitions
    values["ends"] = ends
    let events = scenario.eventTexts
    values["hasEvents"] = !events.isEmpty
    values["events"] = events
    let remark = isRecording ? RecordReport.remark(on: scenario) : nil
    let notes = (scenario.allNotes.map { $0.text(in: scenario) } + [remark].compactMap(\.self)).map {
      TerminalText.safe($0)
    }
    values["hasNotes"] = !notes.isEmpty
    values["notes"] = notes
    let (steps, advice) = (self.steps, self.advice)
    values["hasSteps"] = !steps.isEmpty || !advice.isEmpty
    values["steps"] = steps
    values["advice"] = advice
    return PageTemplate.scenario.render(values)
  }

  /// Passing scenarios are collapsed, unless there is only one scenario.
  private var isOpen: Bool {
    count == 1 || scenario.verdict.exitCode != .pass || scenario.verdict == .improved
      || scenario.metrics.contains(where: \.isWarning)
  }

  // MARK: The verdict

  /// As in `peak_rss 22.0 MiB → 23.3 MiB (+5.7 %)`, or why the scenario failed.
  private var mainValue: String {
    if let failure = scenario.failure { return TerminalText.safe(failure.displayText) }
    let decisive = scenario.metrics.filter { $0.verdict == scenario.verdict } + scenario.metrics
    guard let metric = decisive.first, let now = metric.current else {
      return decisive.first?.reasonText.map { TerminalText.safe($0) } ?? ""
    }
    func amount(_ value: Double) -> String { Format.plainAmount(value, unit: metric.unit) }
    let before = metric.baseline.map { "\(amount($0.median)) → " } ?? ""
    let share = Format.bracketedPercent(metric.change?.percent)
    return "\(metric.metric.label(unit: metric.unit)) \(before)\(amount(now.median))\(share)"
  }

  private var sentences: [String] {
    let block = ScenarioBlock(
      scenario: scenario, context: context, notes: NoteList([scenario], detail: .verbose))
    // Only the check that profiled it has more than the sentence.
    let explanation = context.explanations[scenario.name] == nil ? block.explanationText : nil
    return block.reasons + [explanation, block.changesText].compactMap(\.self)
  }

  private var output: String? {
    let lines = OutputLines.of(scenario.failure?.output ?? "")
    return lines.isEmpty ? nil : lines.suffix(Self.outputLines).joined(separator: "\n")
  }

  // MARK: Tables

  /// The terminal's table of metrics, with the confidence of each change.
  private var valueTable: String {
    guard !isRecording else { return HTMLTable(table: ValueTable(scenario: scenario).table(Self.style)).text }
    guard !scenario.metrics.isEmpty else { return "" }
    let metrics = MetricTable(scenario: scenario, metrics: scenario.metrics)
    var table = metrics.table(Self.style)
    guard metrics.hasBaseline else { return HTMLTable(table: table).text }
    let place = table.columns.count - 1
    table.columns.insert(contentsOf: [.init(title: "95 % interval"), .init(title: "detectable")], at: place)
    for (index, metric) in scenario.metrics.enumerated() {
      table.rows[index].insert(contentsOf: [interval(of: metric), detectable(metric)], at: place)
    }
    return HTMLTable(table: table).text
  }

  private func interval(of metric: MetricResult) -> Table.Cell {
    guard let change = metric.change else { return "" }
    let ends = [change.low, change.high].map { Format.difference($0, unit: metric.unit) }
    return .init(ends.joined(separator: " to "), .faint)
  }

  /// The smallest change that this comparison could have detected.
  private func detectable(_ metric: MetricResult) -> Table.Cell {
    .init(metric.detectable.map { Format.amount($0, unit: metric.unit) } ?? "", .faint)
  }

  /// The repetition that the page shows in detail: the failed one, or else the median one.
  private var shown: Int? { RunPageCurves.shown(of: scenario) }

  private var processes: [String: Any]? {
    guard let shown, let repetition = scenario.repetitions.indices.contains(shown) ? scenario.repetitions[shown] : nil
    else { return nil }
    let processes = ProcessTable(repetition: repetition, title: "")
    guard let table = processes.table(Self.style) else { return nil }
    let which = scenario.repetitions.count > 1 ? " of repetition \(shown + 1)" : ""
    var values: [String: Any] = [
      "title": "Processes\(which), the largest first", "table": HTMLTable(table: table).text,
    ]
    values["rest"] = processes.rest(Self.style)
    return values
  }

  private var repetitions: [String: Any]? {
    guard scenario.repetitions.count > 1 else { return nil }
    var values: [String: Any] = [
      "title": Format.count(scenario.repetitions.count, "repetition"),
      "table": HTMLTable(table: RepetitionTable(scenario: scenario).table).text,
    ]
    values["reason"] = scenario.stopText
    return values
  }

  private var composition: [String: Any]? {
    guard let now = scenario.composition else { return nil }
    let peak = scenario.middleRepetition.flatMap { scenario.repetitions[$0].metrics[.peakRSS] }
    let picture = CompositionPicture(
      before: scenario.reference?.composition, now: now, nearPeak: scenario.compositionAtPeak,
      peak: peak.map(Bytes.init(clampedFrom:)), sides: scenario.sides
    )
    var values: [String: Any] = [
      "title": "Memory composition at the end", "picture": picture.text,
      "table": HTMLTable(table: picture.table(Self.style)).text,
    ]
    values["change"] = picture.change
    values["peakRemark"] = picture.peakRemark
    return values
  }

  private var ends: [String] {
    scenario.endTexts.flatMap { end in [end.text] + (end.evidence.map { ["evidence: \($0)"] } ?? []) }
  }

  // MARK: What to do

  private var nextSteps: NextSteps {
    var context = context
    context.detail = .normal
    // The reader may be on another machine than the one that measured.
    if context.approval == .lastCheck, let path = context.resultPath { context.approval = .file(path) }
    let environment = EnvironmentInfo(
      name: scenario.environment.name, fingerprint: scenario.environment.fingerprint)
    return NextSteps(result: RunResult(run: run, environment: environment, scenarios: [scenario]), context: context)
  }

  private var advice: [String] { isRecording ? [] : nextSteps.advice }

  private var steps: [[String: Any]] {
    let again =
      context.measuring([scenario.name.text]).map { words in
        [NextSteps.Suggestion(purpose: "to measure again:", words: words)]
      } ?? []
    let approvals =
      isRecording
      ? []
      : nextSteps.approvals.map { step in
        NextSteps.Suggestion(
          purpose: step.purpose,
          words: step.words.prefix(2) + ["--reason", "why it is intended"] + step.words.dropFirst(2))
      }
    let closer = isRecording ? [] : nextSteps.closerLooks
    return ((closer.isEmpty ? again : closer) + approvals).map { step in
      ["purpose": step.purpose, "command": ShellWords.line(step.words)]
    }
  }
}
