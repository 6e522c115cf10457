import GateCore

/// What the reader can do now, with commands to copy.
struct NextSteps {
  let result: RunResult
  let context: SummaryContext

  /// The most names that a command lists.
  private static let mostNames = 6

  func write(to page: inout Page) {
    let (steps, advice) = (approvals + closerLooks, advice)
    guard !steps.isEmpty || !advice.isEmpty else { return }
    page.gap()
    page.line(page.style.painted("What to do next", .strong))
    for step in steps {
      page.paragraph(step.purpose, indent: 2)
      page.command(step.words, indent: 4)
    }
    for text in advice { page.paragraph(text, indent: 2) }
    if !approvals.isEmpty, result.run.buildURL != nil, context.approval == .lastCheck {
      let file = context.resultPath.map { TerminalText.safe($0) } ?? "the result file"
      page.paragraph("on another machine: fetch \(file) of this build and add `--from\(Format.space)FILE`", indent: 2)
    }
  }

  struct Step: Equatable {
    var purpose: String
    var words: [String]
  }

  /// What no command does.
  var advice: [String] {
    [limitAdvice, ptraceAdvice, repetitionAdvice].compactMap(\.self)
  }

  private func names(_ verdict: Verdict) -> [String] {
    result.scenarios.filter { $0.verdict == verdict }.map(\.name.text)
  }

  var approvals: [Step] {
    let source: [String]
    switch context.approval {
    case .unavailable: return []
    case .lastCheck: source = []
    case .file(let path): source = ["--from", path]
    }
    let purposes: [(Verdict, String)] = [
      (.regression, "if this rise is intended, make it the new baseline (`--reason TEXT` tells others why):"),
      (.noBaseline, "if these figures are sound, make them the first baseline:"),
      (.improved, "to hold the improvement, make it the new baseline:"),
    ]
    return purposes.flatMap { verdict, purpose in
      steps(purpose, ["approve"] + source, for: verdict == .regression ? namesOfRises : names(verdict))
    }
  }

  /// The scenarios that rose above their baselines, which what is merely above a limit did not.
  private var namesOfRises: [String] {
    result.scenarios.filter { scenario in
      scenario.verdict == .regression
        && scenario.metrics.contains { metric in
          metric.verdict == .regression && metric.rule.severity == .fail && (!metric.isAboveLimit || metric.isRise)
        }
    }.map(\.name.text)
  }

  var closerLooks: [Step] {
    guard context.command == .check, context.detail == .normal else { return [] }
    let names = names(.regression) + names(.failed) + names(.inconclusive)
    let noisy = result.scenarios.filter { $0.metrics.contains { $0.isUndecided && $0.change != nil } }
    return steps("to look closer:", ["check", "--verbose"], for: names)
      + steps("to see what would make it quieter:", ["noise"], for: noisy.map(\.name.text))
  }

  /// A command for the names; where there are too many for one line of a person's attention, for the first of them.
  private func steps(_ purpose: String, _ words: [String], for names: [String]) -> [Step] {
    guard !names.isEmpty else { return [] }
    let shown = names.prefix(Self.mostNames)
    let rest = names.count - shown.count
    let purpose = rest > 0 ? purpose.dropLast() + " (here for the first \(shown.count) of \(names.count)):" : purpose
    // A name that begins with a dash would be read as an option.
    let separator = shown.contains { $0.hasPrefix("-") } ? ["--"] : []
    return [Step(purpose: purpose, words: [Tool.name] + words + context.options + separator + shown)]
  }

  private var limitAdvice: String? {
    let names = names(.regression).filter { !namesOfRises.contains($0) }
    guard let first = names.first else { return nil }
    let others = names.count > 1 ? " and \(Format.count(names.count - 1, "other"))" : ""
    return "\(TerminalText.safe(first))\(others): what is above its `limit` and meant to be needs another one in the "
      + "project file; no approval lifts it"
  }

  private var ptraceAdvice: String? {
    let names = result.scenarios.filter(PtraceAdvice.isNeeded).map(\.name.text)
    guard let first = names.first else { return nil }
    let others = names.count > 1 ? " and \(Format.count(names.count - 1, "other"))" : ""
    return "\(TerminalText.safe(first))\(others) \(PtraceAdvice.text)"
  }

  private var repetitionAdvice: String? {
    let unsure = result.scenarios.filter { $0.verdict == .inconclusive }
    let noisy = unsure.flatMap(\.metrics).filter { $0.verdict == .inconclusive && $0.change != nil }
    guard !noisy.isEmpty else { return nil }
    let count = unsure.map(\.repetitions.count).reduce(noisy.compactMap(\.current?.count).max() ?? 0, max)
    let more = min(max(count * 2, 10), Repetitions.most)
    let repeated = "more repetitions (`--repetitions\(Format.space)\(more)`, or `repetitions:` in the file)"
    let relative = noisy.compactMap { metric in metric.detectable.map { (metric, $0) } }.max { $0.1 < $1.1 }
    let tolerance = relative.map { metric, detectable in
      "a tolerance of \(Format.amount(detectable, unit: metric.unit)) or more"
    }
    let measured = context.command == .check ? repeated : "record both again with more repetitions"
    return "to decide what is inconclusive: \(measured), or \(tolerance ?? "a larger tolerance")"
  }
}
