import GateCore

/// The report of `selfcheck`: what was injected into each scenario, and what the gate found.
enum SelfCheckReport {
  static func text(_ result: SelfCheckResult, style: TerminalStyle, context: SummaryContext) -> String {
    var page = TerminalPage(style)
    for check in result.checks where context.detail != .quiet || check.verdict != .pass {
      SelfCheckLines(check: check, context: context).write(to: &page)
    }
    let injected = result.checks.filter(\.outcome.isOfInjection)
    let passed = injected.count { $0.verdict == .pass }
    let isOfKinds = result.checks.contains { $0.mutation != .held }
    let all = Format.count(injected.count, isOfKinds ? "self-check" : "scenario")
    let rest = result.checks.count - injected.count
    let others = rest > 0 ? "; \(rest) \(rest == 1 ? "was" : "were") not injected" : ""
    page.closing("the gate works in \(passed) of \(all)\(others)", result.verdict.tone)
    return page.text
  }
}

private struct SelfCheckLines {
  let check: ScenarioSelfCheck
  let context: SummaryContext

  func write(to page: inout TerminalPage) {
    let (verdict, style) = (check.verdict, page.style)
    let name = TerminalText.safe(check.name.text)
    page.paragraph("\(name)\(Format.space) \(injectedText)\(answer)", indent: 0, label: "\(verdict.symbol(style)) ")
    if check.outcome == .failed { writeFailure(to: &page) }
    for text in [remedy].compactMap(\.self) + notes { page.paragraph(text, indent: 2) }
  }

  /// As in `+1.1 MiB (5 %) injected`, or `+512 KiB injected as a leak`.
  private var injectedText: String {
    guard check.injected > .zero else { return "nothing injected" }
    if !check.outcome.isOfInjection { return check.mutation.displayText }
    let amount = Format.difference(Double(check.injected.count))
    let kind = check.mutation == .held ? "" : " as \(check.mutation.displayText)"
    guard case .share(let share) = check.amount else { return "\(amount) injected\(kind)" }
    return "\(amount) (\(Decimals.short(share.value))\(Format.space)%) injected\(kind)"
  }

  private var answer: String {
    switch check.outcome {
    case .found: ": regression, \(Self.list(check.found, shift))"
    case .quiet: ": \(check.result.verdict.rawValue)"
    case .notInjected: ": not injected, since \(check.mutation.obstacleText)"
    case .notLoaded: ": not injected, since no process loads a library, as of a static program"
    case .allowed: ", not found, since the gate allows it: \(Self.list(check.compared, allowance))"
    case .notGated: ", not found, since no rule of the gate compares resident memory with the baseline"
    case .missed: ", not found: \(Self.list(check.compared, shift))"
    case .falseAlarm: ": regression, \(check.found.compactMap(\.reasonText).joined(separator: "; "))"
    case .inconclusive: ": inconclusive, \(check.result.message(in: context))"
    case .failed: check.failsUnchanged ? ": the unchanged program failed" : ": failed"
    }
  }

  private static func list(_ metrics: [MetricResult], _ text: (MetricResult) -> String) -> String {
    TerminalText.safe(metrics.map(text).joined(separator: ", "))
  }

  /// As in `peak_rss +1.1 MiB (256 KiB allowed)`.
  private func shift(_ metric: MetricResult) -> String {
    let value = metric.current.map { Format.amount($0.median, unit: metric.unit) } ?? ""
    // A limit is not compared with the unchanged program.
    let change = metric.change.map { Format.difference($0.shift, unit: metric.unit) } ?? value
    guard let allowed = metric.allowed else { return "\(metric.metric) \(change)" }
    return "\(metric.metric) \(change) (\(Format.amount(allowed, unit: metric.unit)) allowed)"
  }

  /// As in `peak_rss allows 256 KiB`.
  private func allowance(_ metric: MetricResult) -> String {
    "\(metric.metric) allows \(Format.amount(metric.allowed ?? 0, unit: metric.unit))"
  }

  private func writeFailure(to page: inout TerminalPage) {
    let block = ScenarioBlock(
      scenario: check.result, context: context, notes: NoteList([check.result], detail: context.detail))
    for text in block.failureTexts { page.paragraph(text, indent: 2) }
    OutputLines.write(check.result.failure?.output ?? "", lines: 12, to: &page)
  }

  private var remedy: String? {
    switch check.outcome {
    case .allowed:
      check.detectableAmount.map {
        "hint: inject what it should find (`--inject\(Format.space)\(Amount.size($0).spelled)`), or write a tighter "
          + "tolerance in its `gate`"
      }
    case .notGated: "hint: add `peak_rss: auto` to its `gate`"
    case .missed where check.mutation == .worker && !check.compared.contains(where: \.metric.isOfTree):
      "hint: add `tree_peak: auto` to its `gate`: the other rules judge the largest process"
    case .notLoaded: "hint: the kind `held` needs none"
    case .inconclusive: "hint: `highwater noise` measures the noise, and what reduces it"
    case .found, .quiet, .missed, .notInjected, .falseAlarm, .failed: nil
    }
  }

  /// Why a program lacks the memory; in a verbose report all notes.
  private var notes: [String] {
    let shown = check.result.notes.filter { note in
      if case .recording(.ballastMissing, _, _) = note { return true }
      return context.detail == .verbose
    }
    return shown.map { "note: " + TerminalText.safe($0.text(in: check.result)) }
  }
}

extension Mutation {
  /// As in `a leak`.
  fileprivate var displayText: String {
    switch self {
    case .held: "memory held from the start"
    case .leak: "a leak"
    case .spike: "a spike of 1\(Format.space)ms"
    case .worker: "a leak of workers"
    case .file: "pages of a file"
    case .shared: "shared memory"
    case .arena: "an arena per thread"
    case .slowReturn: "a level that returns slowly"
    case .table: "a doubled table"
    }
  }

  /// Why it was not injected.
  fileprivate var obstacleText: String {
    switch self {
    case .worker: "the program starts no other process that lives long enough"
    case .arena: "the program creates no threads"
    case .spike: "no process stays near its peak long enough"
    default: "its processes end too early"
    }
  }
}
