import GateCore

/// The report of `bisect`: which commits made memory rise.
enum BisectReport {
  static func text(_ result: BisectResult, style: TerminalStyle, context: SummaryContext) -> String {
    var page = TerminalPage(style)
    for scenario in result.scenarios {
      BisectBlock(scenario: scenario, result: result, context: context).write(to: &page)
      if context.detail != .quiet { page.gap() }
    }
    if context.detail != .quiet { write(result, to: &page) }
    page.closing(result.exitCode.name, result.exitCode == .pass ? .good : .unsure)
    return page.text
  }

  private static func write(_ result: BisectResult, to page: inout TerminalPage) {
    let tried = "\(Format.count(result.builds, "build")), \(Format.time(result.run.duration.rounded))"
    page.paragraph("\(Format.count(result.commitCount, "commit")) searched: \(tried)", indent: 0, tone: .faint)
  }
}

/// What was found for one scenario.
private struct BisectBlock {
  let scenario: ScenarioBisection
  let result: BisectResult
  let context: SummaryContext

  private var bisection: Bisection { scenario.bisection }
  private var steps: [RiseStep] { bisection.steps }

  func write(to page: inout TerminalPage) {
    let tone: Tone = scenario.outcome.exitCode == .pass ? .bad : .unsure
    page.paragraph(headline, indent: 0, label: "\(TerminalText.safe(scenario.name.text)): ", tone: tone)
    OutputLines.write(scenario.failure?.failure.output ?? "", lines: 12, to: &page)
    guard context.detail != .quiet else { return }
    for step in steps { write(step, to: &page) }
    if scenario.outcome == .creep { levels.write(to: &page, indent: 2) }
    for text in facts { page.paragraph(text, indent: 2) }
    if let hint { page.paragraph("hint: \(hint)", indent: 2) }
    if let command { page.command(command, indent: 4) }
    if context.detail == .verbose {
      page.gap()
      measured.write(to: &page, indent: 2)
    }
  }

  // MARK: The answer

  private var headline: String {
    switch scenario.outcome {
    case .commit: "first bad commit: \(name(steps[0]))"
    case .steps where bisection.depth == .largestStep:
      "\(name(steps[0])) holds \(share(steps[0])) of the rise, more than any other commit"
    case .steps: "\(Format.count(steps.count, "commit")) hold \(Format.percentage(known)) of the rise"
    case .creep: "creep: no commit holds a large part of the rise"
    case .range: "first bad commit is one of \(commitCount) (the rest cannot be built or measured)"
    case .noisy: "first bad commit is one of \(commitCount) (the values are too noisy to tell which)"
    case .same: "the good and the bad commit use the same memory, so there is no rise to search"
    case .lower: "the bad commit uses less memory than the good one"
    case .undecided: "the values are too noisy to tell the good from the bad commit"
    case .nothingMeasured: "the good and bad commits share no gated metric"
    case .failed: failureText
    }
  }

  private var commitCount: String {
    Format.count(steps.first.map { $0.upper - $0.lower } ?? bisection.last, "commit")
  }

  private var known: Double { steps.compactMap(\.share).reduce(0, +) }

  private func share(_ step: RiseStep) -> String { Format.percentage(step.share ?? 1) }

  private func name(_ step: RiseStep) -> String { CommitText.short(scenario.commits[step.upper]) }

  private var failureText: String {
    guard let failure = scenario.failure else { return "the bad end cannot be measured" }
    let end = failure.isOfGood ? result.good : result.bad
    let commit = CommitText.short(scenario.commits[failure.isOfGood ? 0 : bisection.last])
    return "the \(failure.isOfGood ? "good" : "bad") end, \(TerminalText.safe(end.revision)) (\(commit)), fails: "
      + TerminalText.safe(failure.failure.displayText)
  }

  // MARK: Steps

  private func write(_ step: RiseStep, to page: inout TerminalPage) {
    page.gap()
    if step.isCommit {
      write(scenario.info(step.upper), label: steps.count > 1 ? "\(share(step))  " : "", to: &page)
    } else {
      let (from, to) = (scenario.commits[step.lower], scenario.commits[step.upper])
      let label = steps.count > 1 ? "\(share(step))  " : ""
      page.paragraph(
        "\(CommitText.short(from))..\(CommitText.short(to)), \(Format.count(step.upper - step.lower, "commit"))",
        indent: 2, label: label, tone: .strong)
      for index in (step.lower + 1...step.upper).prefix(Self.mostListed) { line(scenario.info(index), to: &page) }
      let others = step.upper - step.lower - Self.mostListed
      if others > 0 { page.line("    and \(Format.count(others, "other"))") }
    }
    if let change = step.change?.stepText { page.paragraph(change, indent: 4) }
    if step.change == nil { page.paragraph("the scenario runs out of memory from here on", indent: 4) }
  }

  private static let mostListed = 20

  private func write(_ commit: CommitInfo, label: String, to page: inout TerminalPage) {
    let (author, day) = (commit.author.map(TerminalText.safe), commit.date?.day)
    let by = [author, day].compactMap(\.self).joined(separator: ", ")
    page.paragraph(CommitText.short(commit.commit), indent: 2, label: label, tone: .strong)
    if let subject = commit.subject { page.paragraph(TerminalText.safe(subject), indent: 4) }
    if !by.isEmpty { page.paragraph(by, indent: 4, tone: .faint) }
  }

  private func line(_ commit: CommitInfo, to page: inout TerminalPage) {
    let subject = TerminalText.safe(commit.subject ?? "")
    let text = "\(CommitText.short(commit.commit))  \(subject)"
    page.line("    " + TerminalText.cut(text, to: page.style.width - 4, mark: page.style.ellipsis))
  }

  // MARK: Facts and hints

  private var facts: [String] {
    let excluded = bisection.answers.values.count { answer in
      switch answer {
      case .notBuilt, .failed: true
      case .measured, .outOfMemory: false
      }
    }
    let others = scenario.otherRises.compactMap(\.changeText)
    return endsTexts
      + [
        rest,
        others.isEmpty ? nil : "also risen between the ends: \(others.joined(separator: ", "))",
        excluded > 0
          ? "skipped: \(Format.count(excluded, "commit")) that cannot be built, or whose scenario fails" : nil,
        scenario.narrowedFrom.map {
          "the history shows the step: \(Format.count(bisection.last, "commit")) of \($0) searched"
        },
      ].compactMap(\.self)
  }

  /// The comparison of the ends, if no step is nearly the same: of the searched metric, or of all if none rose.
  private var endsTexts: [String] {
    guard steps.count != 1 || scenario.outcome == .steps else { return [] }
    let shown = bisection.searched.map { [$0] } ?? bisection.ends
    return shown.compactMap { metric in metric.stepText.map { "from end to end: \($0)" } }
  }

  private var rest: String? {
    guard scenario.outcome == .steps, bisection.depth == .allSteps, known < 0.9 else { return nil }
    return "the rest is spread over commits that hold less than a tenth each"
  }

  private var hint: String? {
    switch scenario.outcome {
    case .steps where bisection.depth == .largestStep: "find the others with `--all-steps`"
    case .creep where bisection.depth == .largestStep: "find the largest parts with `--all-steps`"
    case .same, .undecided:
      "name an earlier good end, raise `--repetitions`, or see with `highwater noise` what makes it quieter"
    case .noisy: "raise `--repetitions`, or see with `highwater noise` what makes the scenario quieter"
    case .lower: "name ends between which memory rises"
    case .failed where result.build == nil: "if a commit must be built, write `build: COMMAND` into the project file"
    case .nothingMeasured: "name a metric that both ends have in the `gate` of the scenario"
    case .commit where scenario.mergeBase != nil: "it is a merge; search the branch that it merged:"
    default: nil
    }
  }

  private var command: [String]? {
    guard scenario.outcome == .commit, let base = scenario.mergeBase, let step = steps.first,
      let branch = scenario.info(step.upper).parents.last
    else { return nil }
    return ["highwater", "bisect", "--good", CommitText.short(base), "--bad", CommitText.short(branch)]
      + (result.build.map { ["--build", $0] } ?? []) + context.options + [scenario.name.text]
  }

  // MARK: Tables

  /// The levels between the ends, along the commits.
  private var levels: Table {
    let unit = bisection.searched?.unit ?? "bytes"
    var table = Table(columns: [.init(side: .left), .init(), .init(side: .left)])
    table.rows = bisection.rises.map { index, rise in
      let info = scenario.info(index)
      return [
        .init("commit \(index) of \(bisection.last)"), .init(Format.difference(rise, unit: unit)),
        .init(CommitText.short(info.commit), .faint),
      ]
    }
    return table
  }

  /// Everything that was built or tried.
  private var measured: Table {
    let unit = bisection.searched?.unit ?? "bytes"
    let rises = Dictionary(uniqueKeysWithValues: bisection.rises.map { ($0.index, $0.rise) })
    var table = Table(columns: [
      .init(title: "commit", side: .left), .init(title: "number"), .init(title: "repetitions"), .init(title: "rise"),
      .init(side: .left),
    ])
    table.rows = bisection.answers.sorted { $0.key < $1.key }.map { index, answer in
      let rise = rises[index].map { Format.difference($0, unit: unit) } ?? ""
      return [
        .init(CommitText.short(scenario.commits[index])), .init("\(index)"), .init(answer.repetitionText), .init(rise),
        .init(answer.stateText),
      ]
    }
    return table
  }
}

extension CommitAnswer {
  fileprivate var repetitionText: String {
    if case .measured(let values) = self { "\(values.repetitions)" } else { "" }
  }

  fileprivate var stateText: String {
    switch self {
    case .measured: ""
    case .outOfMemory: "out of memory"
    case .notBuilt: "not built"
    case .failed: "failed"
    }
  }
}

extension MetricResult {
  /// As in `peak_rss 24.1 MiB to 26.5 MiB (+10.0 %), +2.3 MiB to +2.5 MiB with 95 % confidence`.
  fileprivate var stepText: String? { changeText.map { "\($0), \(intervalText)" } }

  fileprivate var intervalText: String {
    guard let change else { return "" }
    let ends = [change.low, change.high].map { Format.difference($0, unit: unit) }
    return "95\(Format.space)% interval \(ends[0]) to \(ends[1])"
  }
}

extension Format {
  /// A part of a whole, as in `48 %`.
  static func percentage(_ share: Double) -> String { "\(Int((share * 100).rounded()))\(space)%" }
}

extension Duration {
  /// To whole seconds, of at least one.
  fileprivate var rounded: Duration { max(.seconds(1), .seconds(components.seconds)) }
}
