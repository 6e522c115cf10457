import GateCore

/// A chat message about a run, without the markup of any service.
struct ChatMessage {
  /// A part of a line.
  enum Span: Equatable {
    /// Our own text, without markup.
    case plain(String)
    /// Untrusted text, shown as code so that it is not parsed as markup.
    case code(String)

    /// The text without markup.
    var text: String {
      switch self {
      case .plain(let text), .code(let text): text
      }
    }
  }

  struct Link: Equatable {
    var title: String
    var url: String
  }

  enum Mood: Equatable {
    case good, bad, unsure
  }

  var title: String
  var summary: String
  var mood: Mood
  /// Branch, commit and environment.
  var facts: [Span]
  /// One line for each notable scenario, the worst first.
  var lines: [[Span]]
  /// The number of notable scenarios that are left out.
  var omitted: Int
  var links: [Link]
}

extension ChatMessage {
  /// About a screenful.
  private static let mostLines = 15

  init(
    _ result: RunResult,
    state: (ScenarioResult) -> ScenarioState,
    news: [TrendEvent],
    links: (build: String?, report: String?),
    exitCode: ExitCode
  ) {
    title = "\(Tool.name): \(exitCode.name)"
    summary = summaryLine(result)
    switch exitCode {
    case .pass: mood = .good
    case .inconclusive, .noBaseline, .delivery, .interrupted, .terminated: mood = .unsure
    case .regression, .failed, .usage: mood = .bad
    }
    facts = Self.facts(result)
    let order: [Verdict] = [.regression, .failed, .noBaseline, .inconclusive, .skipped, .improved, .pass]
    let notable = result.scenarios.filter { scenario in
      scenario.verdict != .pass || state(scenario) == .recovered
    }
    if !news.isEmpty {
      summary += TerminalText.withPlainSpaces("; \(Format.count(news.count, "new event")) in the history")
    }
    let moves = result.run.notes.filter { $0.movedScenario != nil }
    let sorted = order.flatMap { verdict in notable.filter { $0.verdict == verdict } }
    lines = sorted.prefix(Self.mostLines).map { Self.line($0, state: state($0)) }
    omitted = sorted.count - lines.count
    lines += news.prefix(Self.mostLines).map(Self.line)
    omitted += max(0, news.count - Self.mostLines)
    lines += moves.prefix(Self.mostLines).map { [Self.code(ResultText.runNote($0), to: 300)] }
    omitted += max(0, moves.count - Self.mostLines)
    self.links = [("Build", links.build), ("Report", links.report)].compactMap { title, url in
      url.flatMap { Self.isSafe($0) ? Link(title: title, url: $0) : nil }
    }
  }

  /// As in `… and 3 more`; nil if no scenario is left out.
  var rest: String? { omitted > 0 ? "… and \(omitted) more" : nil }

  /// Facts, links and as many lines as fit in `most` UTF-16 units; the last line tells how many are left out.
  func text(atMost most: Int, markup: ([Span]) -> String, link: (Link) -> String) -> String {
    let links = links.map(link).joined(separator: " · ")
    var text = markup(facts) + (links.isEmpty ? "" : "\n" + links)
    var left = omitted
    for (index, spans) in lines.enumerated() {
      let line = "\n• " + markup(spans)
      guard text.utf16.count + line.utf16.count <= most else {
        left += lines.count - index
        break
      }
      text += line
    }
    return text + (left > 0 ? "\n… and \(left) more" : "")
  }

  /// Markdown with untrusted text as code; `escaped` is applied to all text.
  static func markup(_ spans: [Span], _ escaped: (String) -> String = \.self) -> String {
    spans.map { span in
      switch span {
      case .plain(let text): escaped(text)
      case .code(let text): "`" + escaped(text.replacing("`", with: "'")) + "`"
      }
    }.joined()
  }

  private static func facts(_ result: RunResult) -> [Span] {
    var spans: [Span] = []
    if let branch = result.run.branch { spans += [.plain("on "), code(branch), .plain(", ")] }
    if let commit = result.run.commitText(digits: 12) {
      spans += [.plain("commit "), code(commit), .plain(", ")]
    }
    return spans + [.plain("environment "), code(result.environment.name)]
  }

  private static func line(_ scenario: ScenarioResult, state: ScenarioState) -> [Span] {
    var spans: [Span] = [code(scenario.name.text), .plain(" \(text(of: scenario.verdict, state))")]
    if scenario.verdict == .failed {
      let why = scenario.failure?.displayText ?? scenario.repetitions.last?.end.displayText
      let proof = scenario.repetitions.last?.end.proofText
      return spans + (why.map { [.plain(": "), code($0, to: 160)] } ?? [])
        + (proof.map { [.plain("; evidence: "), code($0)] } ?? [])
    }
    for (index, metric) in scenario.metrics.filter({ $0.verdict != .pass }).prefix(2).enumerated() {
      spans.append(.plain(index == 0 ? ": " : "; "))
      let reason = metric.metric == .limit ? ResultText.reason(of: metric) : nil
      spans += reason.map { [code($0, to: 160)] } ?? [code(metric.metric.text), .plain(" " + values(of: metric))]
    }
    if let explanation = scenario.explanation, explanation.finding.culprit != nil {
      spans += [.plain("; "), code(TerminalText.withPlainSpaces(explanation.text), to: 200)]
    }
    if let changes = scenario.explanation?.changesText { spans += [.plain("; "), code(changes, to: 200)] }
    return spans
  }

  private static func line(_ event: TrendEvent) -> [Span] {
    let preposition = event.kind == .creep ? "since" : "at"
    let place = event.start.commitText(digits: 12).map { [.plain(" \(preposition) "), code($0)] } ?? []
    let texts = [event.sizeText, event.scopeText, event.causeText].map(TerminalText.withPlainSpaces)
    let size = texts[0].isEmpty ? "" : "\(texts[0]) in "
    return [.plain("event: \(event.kind.rawValue), \(size)"), code(texts[1])] + place
      + [.plain("; "), code(texts[2], to: 200)]
  }

  private static func text(of verdict: Verdict, _ state: ScenarioState) -> String {
    switch state {
    case .new: "\(verdict.rawValue) (new)"
    case .still: "\(verdict.rawValue) (still)"
    case .recovered: "recovered"
    case .ok: verdict.rawValue
    }
  }

  private static func values(of metric: MetricResult) -> String {
    let now = metric.current.map { Format.amount($0.median, unit: metric.unit) } ?? "unavailable"
    guard let baseline = metric.baseline else {
      return now + (metric.rule.limit.map { ", limit \(Format.amount($0.value, unit: metric.unit))" } ?? "")
    }
    let change = metric.change.map { " (\(Format.difference($0.absolute, unit: metric.unit)))" } ?? ""
    return "\(Format.amount(baseline.median, unit: metric.unit)) → \(now)\(change)"
  }

  /// Text without control characters, on one line, limited in characters and to four times as many bytes.
  private static func code(_ text: String, to limit: Int = 80) -> Span {
    let safe = TerminalText.withoutCommands(TerminalText.safe(String(text.prefix(limit * 2))))
    var bytes = 0
    let kept = safe.prefix(limit).prefix { character in
      bytes += character.utf8.count
      return bytes <= limit * 4
    }
    let isWhole = kept.count == safe.count && safe.count >= text.count
    return .code(kept.isEmpty ? "?" : isWhole ? String(kept) : kept + "…")
  }

  /// Whether an address may become a link: an http(s) URL without characters that could end a link's markup.
  private static func isSafe(_ url: String) -> Bool {
    guard url.hasPrefix("https://") || url.hasPrefix("http://"), url.utf8.count <= 1000 else { return false }
    let refused = Set("<>|\"'`()[]{}\\^ ".utf8)
    return url.utf8.allSatisfy { (0x21...0x7e).contains($0) && !refused.contains($0) }
  }
}
