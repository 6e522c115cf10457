import GateCore

/// The report of `limit`: how much memory each scenario needs, and what to write into a container's limits.
enum LimitReport {
  static func text(_ result: LimitResult, style: TerminalStyle, context: SummaryContext) -> String {
    var page = TerminalPage(style)
    for study in result.studies {
      page.gap()
      LimitBlock(study: study, detail: context.detail).write(to: &page)
    }
    if context.exitCode != .pass {
      page.gap()
      page.closing(context.exitCode.name, .bad)
    }
    return page.text
  }
}

private struct LimitBlock {
  let study: LimitStudy
  let detail: SummaryContext.Detail

  func write(to page: inout TerminalPage) {
    let (verdict, name) = (study.verdict, TerminalText.safe(study.name.text))
    page.paragraph("\(name)\(Format.space) \(answer)", indent: 0, label: "\(verdict.symbol(page.style)) ")
    if let failure = study.failure { writeFailure(failure, to: &page) }
    guard detail != .quiet, let search = study.search else { return }
    page.gap()
    table(of: search).write(to: &page, indent: 2)
    page.gap()
    for text in facts(of: search) { page.paragraph(text, indent: 2, tone: .faint) }
    for text in notes(on: search) { page.paragraph(text, indent: 2, label: "note: ") }
    if study.outcome == .found, let advice = search.advice { Self.write(advice, to: &page) }
  }

  // MARK: The answer

  private var answer: String {
    guard let search = study.search, study.outcome != .failed else { return "the scenario failed" }
    switch study.outcome {
    case .found: return foundText(search)
    case .neverPasses: return "passes without a limit, but not with any up to \(amount(search.machine.largest))"
    case .unfinished, .failed: return unfinishedText(search)
    }
  }

  private func foundText(_ search: LimitSearch) -> String {
    let need = search.need.map(amount) ?? "unknown"
    switch search.fullSpeed {
    case nil: return "needs \(need); slower than normal at every limit tried"
    case search.need: return "needs \(need); full speed at that limit"
    case let speed?: return "needs \(need); full speed from \(amount(speed))"
    }
  }

  /// What an interrupted search knows.
  private func unfinishedText(_ search: LimitSearch) -> String {
    let least = search.highestDeath.map { "more than \(amount($0))" }
    let most = search.lowestSurvivor.map { "at most \(amount($0))" }
    let known = [least, most].compactMap(\.self).joined(separator: " and ")
    return known.isEmpty ? "nothing is known yet" : "needs \(known); the search did not end"
  }

  private func writeFailure(_ failure: Failure, to page: inout TerminalPage) {
    page.paragraph(TerminalText.safe(failure.displayText), indent: 2, tone: .bad)
    if let proof = failure.end?.proofText { page.paragraph(TerminalText.safe("evidence: \(proof)"), indent: 2) }
    OutputLines.write(failure.output, lines: 12, to: &page)
  }

  // MARK: Levels

  /// The highest first.
  private func table(of search: LimitSearch) -> Table {
    Table(
      columns: [
        .init(title: "limit"), .init(title: "passed"), .init(title: "time"), .init(side: .left),
      ],
      rows: search.triedLevels.reversed().map { level in
        let runs = search.runs(at: level)
        let passed = runs.filter(\.survived)
        let time = ValueSummary(passed.map(\.duration.inSeconds)).map { Format.exactTime(.seconds($0.median)) }
        return [
          .init(amount(level)), .init("\(passed.count) of \(runs.count)"), .init(time ?? ""),
          .init(TerminalText.safe(text(of: level, in: search)), tone(of: search.outcome(at: level))),
        ]
      },
      flexible: 3)
  }

  private func tone(of outcome: LimitSearch.LevelOutcome) -> Tone? {
    switch outcome {
    case .survives: .good
    case .slow: .unsure
    case .passed: .faint
    case .killed, .failed, .stalled: .bad
    }
  }

  private func text(of level: Bytes, in search: LimitSearch) -> String {
    let runs = search.runs(at: level)
    switch search.outcome(at: level) {
    case .survives: return "survives"
    case .passed: return ""
    case .slow:
      let slowdown = ValueSummary(runs.map(search.slowdown))?.median ?? 0
      let text = "\(Decimals.text(slowdown, places: 1)) times the usual time"
      return runs.count < LimitSearch.runsToSurvive ? text : "survives, \(text)"
    case .killed, .failed, .stalled: return runs.first { !$0.survived }?.outcomeText ?? ""
    }
  }

  // MARK: Facts and notes

  private func facts(of search: LimitSearch) -> [String] {
    let usual = search.usual
    let cache = usual.peak.map { ", of its cgroup with page cache \(amount($0))" } ?? ""
    let own = study.ownLimit.map { "at its `memory-limit` of \(amount($0))" } ?? "without a limit"
    let without = "\(own): \(Format.exactTime(usual.duration)), peak of the tree \(amount(usual.treePeak))\(cache)"
    let effort = "\(Format.count(study.runCount, "run")) in \(Format.time(study.duration))"
    return [without, slowFact(of: search), "\(effort), \(search.machine.swap.displayText)"].compactMap(\.self)
  }

  /// What the kernel counted in the slowest run.
  private func slowFact(of search: LimitSearch) -> String? {
    let slow = search.runs.filter { $0.survived && search.speed(at: $0.limit) == .slow }
    guard let slowest = slow.max(by: { $0.duration < $1.duration }) else { return nil }
    return slowest.evidenceText.map { "slowest run, at \(amount(slowest.limit)): \($0)" }
  }

  private func notes(on search: LimitSearch) -> [String] {
    var notes: [String] = []
    if let passed = search.survivorBelowDeath, let death = search.highestDeath {
      notes.append(
        "not monotone: it also passed at \(amount(passed)), but not at \(amount(death)); it fails at random, or sets "
          + "its own limits by the memory limit")
    }
    if let need = search.need, let peak = search.usual.peak, need > peak + search.machine.batches {
      notes.append(
        "it needs more than the \(amount(peak)) that it held without a limit: runtimes give their heap a share of the "
          + "limit, which an option can change")
    }
    if let need = search.need, let resident = search.residentBeyond(need) {
      notes.append(
        "with a limit of \(amount(need)) it still held \(amount(resident)): pages of libraries that other programs have mapped "
          + "are charged to these here, but to the container in a fresh one; the advice includes them")
    }
    if detail == .verbose {
      notes.append(
        "the kernel charges memory in batches, so that a few runs in 100 may still be killed up to "
          + "\(amount(search.machine.batches)) above the smallest limit")
    }
    return notes
  }

  private static func write(_ advice: LimitSearch.Advice, to page: inout TerminalPage) {
    let (request, limit) = (advice.request.count >> 20, advice.limit.count >> 20)
    page.gap()
    page.paragraph("for Kubernetes:", indent: 2)
    page.lines(["    resources:", "      requests: {memory: \(request)Mi}", "      limits: {memory: \(limit)Mi}"])
    page.paragraph("for the project file, to run it with that limit in each check:", indent: 2)
    page.line("    limit: {survives: \(limit)MiB}")
  }

  private func amount(_ bytes: Bytes) -> String { Format.amount(bytes) }
}
