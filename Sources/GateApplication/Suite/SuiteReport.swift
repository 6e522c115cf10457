import GateCore

/// The report of a suite in a terminal: what did not pass, and which tests need most.
enum SuiteReport {
  static func text(
    _ result: SuiteResult, output: String, style: TerminalStyle, detail: SummaryContext.Detail
  ) -> String {
    var page = TerminalPage(style)
    SuitePage(result: result, output: output, detail: detail).write(to: &page)
    return page.text
  }
}

private struct SuitePage {
  let result: SuiteResult
  let output: String
  let detail: SummaryContext.Detail

  /// More tests than this are counted; JSON and JUnit have all.
  private static let mostListed = 20
  private static let mostNotes = 3

  func write(to page: inout TerminalPage) {
    let verdict = result.verdict
    let name = TerminalText.safe(result.name.text)
    page.paragraph(
      "\(name)\(Format.space) \(result.countText)\(timeText)", indent: 0, label: "\(verdict.symbol(page.style)) ")
    for problem in result.problems { write(problem, to: &page) }
    for verdict in [Verdict.regression, .failed, .inconclusive] { write(result.tests(with: verdict), to: &page) }
    if detail != .quiet { writeNotes(to: &page) }
    if detail == .verbose || verdict == .noBaseline { writeHeaviest(to: &page) }
    if verdict == .noBaseline {
      page.paragraph("to approve these figures: `highwater approve --suite`", indent: 2, label: "hint: ")
    }
    if verdict != .pass, verdict != .improved {
      page.gap()
      page.closing(verdict.exitCode.name, verdict.tone)
    }
  }

  private var timeText: String {
    let again = result.repeatTime > .zero && result.tests.contains { !$0.alone.isEmpty }
    return ", \(Format.time(result.suiteTime))"
      + (again ? " and \(Format.time(result.repeatTime)) to run some again" : "")
  }

  private func write(_ problem: SuiteProblem, to page: inout TerminalPage) {
    page.paragraph(TerminalText.safe(problem.displayText), indent: 2, label: "error: ", tone: .bad)
    if let hint = problem.hint { page.paragraph(hint, indent: 2, label: "hint: ") }
    guard case .failed(let failure) = problem else { return }
    OutputLines.write(failure.output, lines: 12, to: &page)
    page.paragraph("see the whole output in `\(output)`", indent: 2, label: "hint: ")
  }

  private func write(_ tests: [TestResult], to page: inout TerminalPage) {
    guard !tests.isEmpty else { return }
    page.gap()
    for test in tests.prefix(Self.mostListed) {
      let place = test.test.placeText
      page.paragraph(
        TerminalText.safe(test.test.name) + (place.isEmpty ? "" : "  (\(place))"), indent: 2,
        label: "\(test.verdict.symbol(page.style)) ", tone: .strong)
      if let text = text(of: test) { page.paragraph(text, indent: 6) }
    }
    if tests.count > Self.mostListed {
      page.paragraph("and \(tests.count - Self.mostListed) others", indent: 2, tone: .faint)
    }
    var hints = Set(tests.compactMap(\.reason?.hint)).sorted()
    if tests[0].verdict == .failed, result.problems.isEmpty { hints.append("see the output in `\(output)`") }
    for hint in hints { page.paragraph(hint, indent: 2, label: "hint: ") }
  }

  private func text(of test: TestResult) -> String? {
    guard case .overLimit = test.reason, let figures = test.run.figures else { return test.reason?.displayText }
    return "needs \(Format.amount(figures.peak)): " + (test.reason?.displayText ?? "")
  }

  private func writeNotes(to page: inout TerminalPage) {
    var notes: [String] = []
    if result.inexactCount > 0 {
      notes.append(
        "the peaks of \(Format.count(result.inexactCount, "test")) are upper bounds: the mark could not be reset")
    }
    let explained = result.tests.filter { test in
      if case .becauseOfOthers = test.reason { true } else { false }
    }
    let shown = detail == .verbose ? Self.mostListed : Self.mostNotes
    notes += explained.prefix(shown).map {
      "\(TerminalText.safe($0.test.name)) \($0.reason?.displayText ?? "")"
    }
    if explained.count > shown {
      notes.append("\(explained.count - shown) other tests also need more because of a test before them")
    }
    if detail == .verbose {
      notes += result.tests.filter { $0.verdict == .improved }.prefix(Self.mostListed)
        .map { "\(TerminalText.safe($0.test.name)) \($0.reason?.displayText ?? "")" }
      notes += result.missing.prefix(Self.mostListed).map { "removed: \(TerminalText.safe($0))" }
    }
    for note in notes { page.paragraph(note, indent: 2, label: "note: ") }
  }

  private func writeHeaviest(to page: inout TerminalPage) {
    page.gap()
    TestTable.heaviest(of: result).write(to: &page, indent: 2)
    page.gap()
  }
}
