import GateCore

/// What `init` tells of the files that it writes.
struct InitReport {
  /// A file that `init` writes.
  struct File: Sendable, Equatable {
    /// As the user would type it.
    let path: String
    let text: String
    /// Whether the file existed before: then it stays as it is.
    let exists: Bool
  }

  /// The attributes of baselines: git never merges the lines of two, and reviews fold what is generated.
  static let attributes = """
    baselines/**/*.json -merge
    baselines/*/details/*.json linguist-generated -diff
    baselines/*/profiles/*.json linguist-generated -diff

    """

  /// The `.gitignore` of baselines: a pattern such as the name of the program would also match their folders.
  static let keptBaselines = "!*\n"

  /// nil if the project file existed before, so that nothing was run.
  let starter: Starter?
  let files: [File]
  /// Those whose files are written, or that have none.
  let jobs: [StarterJob]
  /// Options that commands must repeat.
  let options: [String]
  /// The folder of the baselines, as the user would type it; nil outside of a repository of git.
  let baselines: String?
  /// What was tried before and failed.
  var failed: StarterSearch.FailedStart?
  /// What the build has written and git does not ignore.
  var unignored: String?

  /// The files as they would be written.
  static func preview(_ files: [File]) -> String {
    files.filter { !$0.exists }.map { "\(TerminalText.safe($0.path)):\n\n\($0.text)\n" }.joined()
  }

  /// What was written, and what to do next.
  func text(style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    for file in files {
      page.line((file.exists ? "exists, not changed: " : "wrote ") + TerminalText.safe(file.path))
      if file.exists, file.text == Self.attributes {
        page.paragraph("add these lines to it, so that git never merges two baselines:", indent: 2)
        for line in file.text.split(separator: "\n") { page.line("    \(line)") }
      }
    }
    if let starter {
      page.paragraph(Self.finding(of: starter), indent: 2)
      if let hint = Self.shortness(of: starter) { page.paragraph(hint, indent: 2, label: "hint: ") }
    }
    if let failed {
      let why = [Self.problem(of: failed), OutputLines.of(failed.failure.output).last].compactMap(\.self)
      page.paragraph(
        "`\(TerminalText.safe(failed.command.shellLine))` was tried before that and failed: \(why.joined(separator: ": "))",
        indent: 2, label: "note: ")
    }
    if let unignored {
      let path = TerminalText.safe(unignored)
      page.paragraph(
        "the build writes `\(path)`, and git does not ignore it; add it to `.gitignore`", indent: 2, label: "hint: ")
    }
    for job in jobs { page.paragraph(job.advice, indent: 2, label: "\(job.system): ") }
    if jobs.isEmpty, !files.contains(where: { $0.path.contains(".y") && $0 != files[0] }) {
      page.paragraph(
        "no CI system found; run `highwater check` in your CI job, or `highwater init` again once the repository has one of "
          + "GitHub or GitLab", indent: 2)
    }
    writeNextSteps(to: &page)
    return page.text
  }

  /// What was seen of the program.
  private static func finding(of starter: Starter) -> String {
    let command = command(of: starter)
    switch starter.scenario.ready?.condition {
    case nil: return "\(command) ran and ended by itself"
    case .tcp(_, let port):
      let isHTTP = starter.scenario.steps.contains { if case .repeat = $0.action { true } else { false } }
      let place = port.map { "port \($0)" } ?? "the port it is given"
      return "\(command) \(isHTTP ? "answers HTTP" : "listens") on \(place)"
    case .unix(let path): return "\(command) listens on `\(TerminalText.safe(path))`"
    default:
      return "\(command) runs for more than a minute and opens no listening socket; "
        + "if it ends by itself, delete `ready` and `steps` in the project file"
    }
  }

  /// A shorter run is little more than the start of a program.
  private static let shortTime = Duration.milliseconds(100)

  /// For a program without arguments that ends at once, as an interpreter does at the end of its empty input.
  private static func shortness(of starter: Starter) -> String? {
    guard let time = starter.time, time < shortTime, starter.scenario.target.command.words.count == 1 else {
      return nil
    }
    return "it ended after \(Format.time(time)) with no arguments and no input, so little more than its start is "
      + "measured; give it typical work in `command` or `stdin`"
  }

  private func writeNextSteps(to page: inout TerminalPage) {
    page.gap()
    page.line(page.style.painted("What to do next", .strong))
    let written = files.filter { !$0.exists }.map(\.path)
    guard starter != nil else { return page.command(["git", "add"] + written, indent: 2) }
    page.command([Tool.name, "check"] + options, indent: 2)
    page.command([Tool.name, "approve"] + options, indent: 2)
    if let baselines { page.command(["git", "add"] + written + [baselines], indent: 2) }
    page.paragraph("`check` exits with 5 until there is a baseline, and with 1 after a rise", indent: 2)
  }

  private static func command(of starter: Starter) -> String {
    "`" + starter.scenario.target.command.shellLine + "`"
  }

  /// A line before the program is run.
  static func announcement(of starter: Starter) -> String {
    "running \(command(of: starter)) to see what it does"
  }

  /// That a command is measured though its build fails.
  static func withoutBuild(_ build: String) -> String {
    "this build failed, so the project file has no `build`: `\(TerminalText.safe(build))`"
  }

  private static func problem(of failed: StarterSearch.FailedStart) -> String {
    TerminalText.safe(failed.failure.end?.displayText ?? failed.failure.problemText)
  }

  /// Why nothing can be measured, for a build or a program that fails.
  static func text(_ failed: StarterSearch.FailedStart, style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    let line = "`\(TerminalText.safe(failed.command.shellLine))`"
    page.paragraph(
      "error: the \(failed.isBuild ? "build" : "program") failed: \(line): \(problem(of: failed))", indent: 0)
    OutputLines.write(failed.failure.output, lines: 12, to: &page)
    let hint =
      failed.isBuild
      ? "make this command work here; `highwater init` writes it as `build` into the project file. Or name a program that "
        + "is built: `highwater init -- COMMAND [ARG…]`"
      : "name a command that works: `highwater init -- COMMAND [ARG…]`"
    page.paragraph(hint, indent: 2, label: "hint: ")
    return page.text
  }
}
