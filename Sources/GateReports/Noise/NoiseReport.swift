package import GateCore

/// What `noise` says of scenarios that were run against themselves.
package enum NoiseReport {
  /// Lines that each end in a newline: at most a screen for each scenario.
  package static func text(_ result: NoiseResult, style: TerminalStyle, context: SummaryContext) -> String {
    var page = Page(style)
    for study in result.studies {
      page.gap()
      if study.verdict == .failed || study.result.failure != nil {
        ScenarioDetail(scenario: study.result, context: context, notes: RunNotes([study.result])).write(to: &page)
      } else {
        NoiseDetail(study: study, detail: context.detail).write(to: &page)
      }
    }
    if result.verdict.exitCode != .pass {
      page.gap()
      page.line("\(Tool.name): " + style.painted(context.exitCode.name, .bad))
    }
    return page.text
  }
}

/// One scenario's noise.
private struct NoiseDetail {
  let study: NoiseStudy
  let detail: SummaryContext.Detail

  /// What is told in more than figures: the gated metrics, unless all are asked for or none is gated.
  private var reported: [MetricNoise] {
    detail == .verbose || study.gated.isEmpty ? study.metrics : study.gated
  }

  func write(to page: inout Page) {
    writeHeading(to: &page)
    guard detail != .quiet else { return }
    page.paragraph(circumstances, indent: 2, tone: .faint)
    if !study.metrics.isEmpty {
      page.gap()
      NoiseTable(study: study, reported: reported).write(to: &page)
      page.gap()
      let words = NoiseWords(study: study, reported: reported)
      for text in words.findings { page.paragraph(text, indent: 2, label: page.style.unicode ? "• " : "* ") }
      writeAdvice(words, to: &page)
    }
    for note in study.notes { page.paragraph(TerminalText.safe(note), indent: 2, label: "note: ") }
  }

  private func writeHeading(to page: inout Page) {
    let style = page.style
    let isQuiet = study.verdict == .pass && study.tooNoisy.isEmpty
    let verdict: Verdict = isQuiet ? .pass : .inconclusive
    let head = "\(verdict.symbol(style)) \(answer)"
    let name = TerminalText.safe(study.name.text)
    if TerminalText.columns(head) + 2 + TerminalText.columns(name) <= style.width {
      page.line(style.painted(head, verdict.tone) + "  " + style.painted(name, .strong))
    } else {
      page.paragraph(answer, indent: 0, label: "\(verdict.symbol(style)) ", tone: verdict.tone)
      page.paragraph(name, indent: 2, tone: .strong)
    }
  }

  private var answer: String {
    guard !study.metrics.isEmpty else { return "no figures" }
    guard !study.gated.isEmpty else { return "measured" }
    let names = study.tooNoisy.map { TerminalText.safe($0.metric.text) }
    return names.isEmpty ? "quiet enough for its gate" : "too noisy for its gate: \(names.joined(separator: ", "))"
  }

  private var circumstances: String {
    let time = RepeatedFigure(study.result.repetitions.map(\.duration.inSeconds)).map { figure in
      " of \(Format.time(.seconds(figure.median)))"
    }
    let warmup = study.warmup == 0 ? "no warm-up" : Format.count(study.warmup, "warm-up")
    return "\(Format.count(study.repetitions, "repetition"))\(time ?? ""), \(warmup); "
      + TerminalText.safe(study.result.environment.name)
  }

  private func writeAdvice(_ words: NoiseWords, to page: inout Page) {
    let rules = study.advisedGate.rules
    guard !study.gated.isEmpty, !rules.isEmpty else { return }
    page.gap()
    page.paragraph(words.advice, indent: 2)
    if let warmup = study.advisedWarmup { page.line("    warmup: \(warmup)") }
    page.line("    gate:")
    for rule in rules { page.line("      " + TerminalText.safe(rule.spelled)) }
  }
}
