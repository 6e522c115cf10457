import GateCore

/// The report of `noise` on scenarios that were compared with themselves.
enum NoiseReport {
  /// Lines that each end in a newline: at most a screenful per scenario.
  static func text(_ result: NoiseResult, style: TerminalStyle, context: SummaryContext) -> String {
    var page = TerminalPage(style)
    for study in result.studies {
      page.gap()
      if study.verdict == .failed || study.result.failure != nil {
        ScenarioBlock(
          scenario: study.result, context: context, notes: NoteList([study.result], detail: context.detail)
        ).write(to: &page)
      } else {
        NoiseBlock(study: study, detail: context.detail).write(to: &page)
      }
    }
    if result.verdict.exitCode != .pass {
      page.gap()
      page.closing(context.exitCode.name, .bad)
    }
    return page.text
  }
}

/// The report on one scenario's noise.
private struct NoiseBlock {
  let study: NoiseStudy
  let detail: SummaryContext.Detail

  /// The gated metrics; all metrics if none is gated, or in a verbose report.
  private var reported: [MetricNoise] {
    detail == .verbose || study.gated.isEmpty ? study.metrics : study.gated
  }

  func write(to page: inout TerminalPage) {
    writeHeading(to: &page)
    guard detail != .quiet else { return }
    page.paragraph(circumstances, indent: 2, tone: .faint)
    if !study.metrics.isEmpty {
      page.gap()
      NoiseTable(study: study, reported: reported).write(to: &page)
      page.gap()
      let findings = NoiseFindings(study: study, reported: reported)
      page.list(findings.texts)
      writeAdvice(findings, to: &page)
    }
    for text in study.noteTexts { page.paragraph(TerminalText.safe(text), indent: 2, label: "note: ") }
  }

  private func writeHeading(to page: inout TerminalPage) {
    let isQuiet = study.verdict == .pass && study.tooNoisy.isEmpty
    let verdict: Verdict = isQuiet ? .pass : .inconclusive
    page.heading("\(verdict.symbol(page.style)) \(answer)", verdict.tone, name: study.name)
  }

  private var answer: String {
    guard !study.metrics.isEmpty else { return "no values" }
    guard !study.gated.isEmpty else { return "measured" }
    let names = study.tooNoisy.map { TerminalText.safe($0.metric.text) }
    return names.isEmpty ? "quiet enough for its gate" : "too noisy for its gate: \(names.joined(separator: ", "))"
  }

  private var circumstances: String {
    let time = ValueSummary(study.result.repetitions.map(\.duration.inSeconds)).map { times in
      " of \(Format.time(.seconds(times.median)))"
    }
    let warmup = study.warmup == 0 ? "no warm-up" : Format.count(study.warmup, "warm-up")
    return "\(Format.count(study.repetitions, "repetition"))\(time ?? ""), \(warmup); "
      + TerminalText.safe(study.result.environment.name)
  }

  private func writeAdvice(_ findings: NoiseFindings, to page: inout TerminalPage) {
    let rules = study.advisedGate.rules
    guard !study.gated.isEmpty, !rules.isEmpty else { return }
    page.gap()
    page.paragraph(findings.advice, indent: 2)
    if let warmup = study.advisedWarmup { page.line("    warmup: \(warmup)") }
    page.line("    gate:")
    for rule in rules { page.line("      " + TerminalText.safe(rule.spelled)) }
  }
}

extension NoiseStudy {
  /// The notes of the measurement, and the unavailable metrics.
  fileprivate var noteTexts: [String] {
    let unavailable = result.metrics.filter { if case .unavailable = $0.reason { true } else { false } }
    return result.notes.map { $0.text(in: result) } + unavailable.compactMap(\.reasonText)
  }
}
