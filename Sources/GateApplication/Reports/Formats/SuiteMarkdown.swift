import GateCore

/// A suite as a comment on a pull request: what did not pass, and the heaviest tests.
enum SuiteMarkdown {
  private static let most = 50

  static func text(_ result: SuiteResult) -> String {
    let head = "### \(result.verdict.rawValue): \(MarkdownText.code(result.name.text)), \(result.countText)\n"
    let problems = result.problems.map { "\n\(MarkdownText.line($0.displayText))\n" }.joined()
    let changed = result.tests.filter { $0.verdict.isProblem && !$0.isNew || $0.verdict == .improved }
    let rows = changed.prefix(most).map { test in
      "| \(test.verdict.rawValue) | \(MarkdownText.code(test.test.name)) | \(MarkdownText.prose(test.test.placeText)) "
        + "| \(MarkdownText.prose(test.reason?.displayText ?? "")) |\n"
    }
    let table = rows.isEmpty ? "" : "\n| verdict | test | place | memory |\n| --- | --- | --- | --- |\n" + rows.joined()
    let more = changed.count > most ? "\nand \(changed.count - most) others\n" : ""
    let heaviest = result.heaviest(10).map { test, figures in
      "| \(MarkdownText.code(test.test.name)) | \(Format.amount(figures.peak)) | \(Format.amount(figures.kept)) |\n"
    }
    let second =
      heaviest.isEmpty ? "" : "\n| heaviest tests | peak | kept |\n| --- | ---: | ---: |\n" + heaviest.joined()
    return TerminalText.withPlainSpaces(head + problems + table + more + second)
  }
}
