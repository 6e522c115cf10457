import GateCore

/// Next steps after a run, with commands to copy.
struct NextSteps {
  let result: RunResult
  let context: SummaryContext

  /// The maximum number of names in a command if shorter words select the same scenarios.
  private static let mostNames = 6

  func write(to page: inout TerminalPage) {
    let (steps, advice) = (suggestions, advice)
    guard !steps.isEmpty || !advice.isEmpty else { return }
    page.gap()
    page.line(page.style.painted("What to do next", .strong))
    for step in steps {
      page.paragraph(step.purpose, indent: 2)
      page.command(step.words, indent: 4)
    }
    for text in advice + [downloadAdvice].compactMap(\.self) { page.paragraph(text, indent: 2) }
  }

  /// How to approve what a CI system measured.
  var downloadAdvice: String? {
    guard !approvals.isEmpty, result.run.buildURL != nil, context.approval == .lastCheck else { return nil }
    return "to approve on another machine, download the artifacts of this build and add `--from\(Format.space)FOLDER`"
  }

  /// All commands, in the order of the summary.
  var suggestions: [Suggestion] { approvals + closerLooks }

  /// A command with its purpose.
  struct Suggestion: Equatable {
    var purpose: String
    var words: [String]
  }

  /// Advice without a command.
  var advice: [String] {
    [limitAdvice, looseLimitAdvice, ptraceAdvice, repetitionAdvice, unavailableAdvice].compactMap(\.self)
  }

  private func names(_ verdict: Verdict, except others: [String] = []) -> [String] {
    let others = Set(others)
    return result.scenarios.filter { $0.verdict == verdict }.map(\.name.text).filter { !others.contains($0) }
  }

  var approvals: [Suggestion] {
    let source: [String]
    switch context.approval {
    case .unavailable: return []
    case .lastCheck: source = []
    case .file(let path): source = ["--from", path]
    }
    let unusable = result.scenarios.filter { $0.baselineDefect != nil }.map(\.name.text)
    let purposes: [(names: [String], String)] = [
      (namesOfRises, "if the rise is intended, approve it as the new baseline (`--reason TEXT` records why):"),
      (
        names(.noBaseline, except: unusable + ofOtherMachine),
        "if these values are right, approve them as the first baseline:"
      ),
      (unusable, "if these values are right, approve them in place of the unusable baseline:"),
      (names(.improved), "\(looseGate)to keep the improvement, approve it as the new baseline:"),
    ]
    let machine = "if this kind of machine replaces that of the baseline, approve it with `--force`:"
    return purposes.flatMap { names, purpose in steps(purpose, ["approve"] + source, for: names) }
      + steps(machine, ["approve", "--force"] + source, for: ofOtherMachine)
  }

  /// As in `the gate allows 3.0 × what load needs; `; empty if it allows little more than before the improvement.
  private var looseGate: String {
    let factors = result.scenarios.filter { $0.verdict == .improved }.compactMap { scenario in
      scenario.metrics.compactMap(\.looseness).max().map { (scenario.name.text, $0) }
    }
    guard let (name, factor) = factors.max(by: { $0.1 < $1.1 }), factor > Self.usualLooseness else { return "" }
    return "the gate allows \(Format.factor(factor)) what \(TerminalText.safe(name)) needs; "
  }

  /// A gate that allows so much more than is needed lets a leak return unseen.
  private static let usualLooseness = 1.5

  /// The scenarios of which the environment of this name has a baseline of another kind of machine.
  private var ofOtherMachine: [String] {
    result.scenarios.filter { scenario in
      scenario.verdict == .noBaseline
        && scenario.notes.contains { note in
          if case .otherEnvironment(scenario.environment.name, _) = note { true } else { false }
        }
    }.map(\.name.text)
  }

  /// The scenarios that rose above their baselines, not only above a limit.
  private var namesOfRises: [String] {
    result.scenarios.filter { scenario in
      scenario.verdict == .regression
        && scenario.metrics.contains { metric in
          metric.verdict == .regression && metric.rule.severity == .fail && (!metric.isAboveLimit || metric.isRise)
        }
    }.map(\.name.text)
  }

  var closerLooks: [Suggestion] {
    guard context.detail == .normal else { return [] }
    if context.command == .suite { return suiteLook }
    guard context.command == .check else { return [] }
    let missing = Set(result.scenarios.filter(\.isOfMissingShard).map(\.name.text))
    let names = names(.regression) + names(.failed) + names(.inconclusive).filter { !missing.contains($0) }
    let noisy = result.scenarios.filter { $0.metrics.contains { $0.isUndecided && $0.change != nil } }
    let notSurviving = result.scenarios.filter { $0.metrics.contains(where: \.isDeathAtLimit) }
    return steps("for details:", ["check", "--verbose"], for: names)
      + steps("to find the smallest memory limit at which it passes:", ["limit"], for: notSurviving.map(\.name.text))
      + steps("to measure the noise, and what reduces it:", ["noise"], for: noisy.map(\.name.text))
  }

  private var suiteLook: [Suggestion] {
    guard ![.pass, .noBaseline, .skipped].contains(result.verdict) else { return [] }
    return context.measuring([], with: ["--verbose"]).map { [Suggestion(purpose: "for details:", words: $0)] } ?? []
  }

  /// A command for the names.
  private func steps(_ purpose: String, _ words: [String], for names: [String]) -> [Suggestion] {
    guard !names.isEmpty else { return [] }
    // An approval changes nothing for scenarios that pass.
    let others = words.contains("approve") ? result.scenarios.filter { $0.verdict != .pass } : result.scenarios
    let shown = names.count > Self.mostNames ? shortest(for: names, of: others) : names
    let options = (words.first == "check" ? context.checkOptions : []) + context.options
    let arguments = SummaryContext.arguments(shown)
    return [Suggestion(purpose: purpose, words: [Tool.name] + words + options + arguments)]
  }

  /// The fewest words that select these scenarios and no others: none for all, then tags, matrices and patterns such as
  /// `import-*`, then names.
  private func shortest(for names: [String], of scenarios: [ScenarioResult]) -> [String] {
    var left = Set(names)
    guard left.count < scenarios.count else { return [] }
    var groups: [String: [String]] = [:]
    for scenario in result.scenarios {
      let name = scenario.name.text
      for tag in scenario.tags { groups["tag:\(tag)", default: []].append(name) }
      let bracket = name.firstIndex(of: "[")
      if let bracket { groups[String(name[..<bracket]), default: []].append(name) }
      let plain = name[..<(bracket ?? name.endIndex)]
      for end in plain.indices where "-._".contains(name[end]) { groups["\(name[...end])*", default: []].append(name) }
    }
    var words: [String] = []
    for (word, members) in groups.sorted(by: { ($1.value.count, $0.key) < ($0.value.count, $1.key) })
    where members.count > 1 && left.isSuperset(of: members) {
      words.append(word)
      left.subtract(members)
    }
    return words + names.filter(left.contains)
  }

  private var limitAdvice: String? {
    let above = result.scenarios.filter { scenario in
      scenario.verdict == .regression && scenario.metrics.contains { $0.isAboveLimit && !$0.isDeathAtLimit }
    }
    return advice(for: above.map(\.name.text).filter { !namesOfRises.contains($0) }) { subject in
      "\(subject): above a `limit`, which an approval does not change; if intended, raise the `limit`"
    }
  }

  /// With `--verbose`, since it is true of each run.
  private var looseLimitAdvice: String? {
    guard context.detail == .verbose else { return nil }
    let limits = result.scenarios.flatMap { scenario in
      scenario.metrics.compactMap { metric in metric.looseLimit.map { (scenario.name.text, metric.metric, $0) } }
    }
    guard let (name, metric, factor) = limits.max(by: { $0.2 < $1.2 }), factor > Self.usualLooseness else { return nil }
    return
      "\(TerminalText.safe(name)): the `limit` of \(TerminalText.safe(metric.text)) is \(Format.factor(factor)) what "
      + "the program needs, and nothing else judges it; lower it in the project file"
  }

  /// For the first scenario that is inconclusive since metrics of its gate have no value.
  private var unavailableAdvice: String? {
    let unsure = result.scenarios.filter { $0.verdict == .inconclusive && $0.failure == nil }
    let unavailable = unsure.map { scenario in (scenario, scenario.metrics.filter(\.isUnavailable)) }
    guard let (scenario, metrics) = unavailable.first(where: { !$1.isEmpty }) else { return nil }
    let names = metrics.map { TerminalText.safe($0.metric.text) }.joined(separator: ", ")
    let otherwise = scenario.gate.isStandard ? "write a `gate` without it" : "remove it from the `gate`"
    let subject = TerminalText.safe(scenario.name.text)
    return "\(subject): change the scenario so that it has a value for \(names), or \(otherwise)"
  }

  private var ptraceAdvice: String? {
    advice(for: result.scenarios.filter(PtraceAdvice.isNeeded).map(\.name.text)) { "\($0) \(PtraceAdvice.text)" }
  }

  /// nil without names; otherwise with a subject as in `load and 2 others`.
  private func advice(for names: [String], _ text: (String) -> String) -> String? {
    guard let first = names.first else { return nil }
    let others = names.count > 1 ? " and \(Format.count(names.count - 1, "other"))" : ""
    return text(TerminalText.safe(first) + others)
  }

  private var repetitionAdvice: String? {
    let unsure = result.scenarios.filter { $0.verdict == .inconclusive && $0.suite == nil }
    let noisy = unsure.flatMap(\.metrics).filter { $0.verdict == .inconclusive && $0.change != nil }
    guard !noisy.isEmpty else { return nil }
    let count = unsure.map(\.repetitions.count).reduce(noisy.compactMap(\.current?.count).max() ?? 0, max)
    let more = min(max(count * 2, 10), Repetitions.most)
    let repeated = "use more repetitions (`--repetitions\(Format.space)\(more)`, or `repetitions:` in the project file)"
    let relative = noisy.compactMap { metric in metric.detectable.map { (metric, $0) } }.max { $0.1 < $1.1 }
    let tolerance = relative.map { metric, detectable in
      "a tolerance of \(Format.amount(detectable, unit: metric.unit)) or more"
    }
    let measured = context.command == .check ? repeated : "measure both again with more repetitions"
    return "to get a decision: \(measured), or \(tolerance ?? "a larger tolerance")"
  }
}

extension MetricResult {
  fileprivate var isDeathAtLimit: Bool { metric == .limit && verdict == .regression }

  /// What the baseline and the tolerance allow, by what was measured; nil without both, and of rates.
  fileprivate var looseness: Double? {
    guard let before = baseline?.median, let now = current?.median, let allowed, now > 0, !metric.isRate else {
      return nil
    }
    return (before + allowed) / now
  }

  /// The limit by what was measured, if only it counts.
  fileprivate var looseLimit: Double? {
    guard rule.tolerance == nil, let limit = rule.limit?.value, let now = current?.median, now > 0, verdict == .pass,
      !metric.isRate
    else { return nil }
    return limit / now
  }

  fileprivate var isUnavailable: Bool {
    if verdict == .inconclusive, case .unavailable = reason { true } else { false }
  }
}
