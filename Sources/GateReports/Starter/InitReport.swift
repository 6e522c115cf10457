package import GateCore

/// What `init` tells of the files that it writes.
package enum InitReport {
  /// A file that `init` writes.
  package struct File: Sendable, Equatable {
    /// As the user would type it.
    package let path: String
    package let text: String
    /// Whether the file existed before: then it stays as it is.
    package let exists: Bool

    package init(path: String, text: String, exists: Bool) {
      (self.path, self.text, self.exists) = (path, text, exists)
    }
  }

  /// The files as they would be written.
  package static func preview(_ files: [File]) -> String {
    files.filter { !$0.exists }.map { "\(TerminalText.safe($0.path)):\n\n\($0.text)\n" }.joined()
  }

  /// What was written, and what to do next.
  package static func text(
    _ starter: Starter,
    files: [File],
    jobs: [StarterJob],
    options: [String],
    style: TerminalStyle
  ) -> String {
    var page = TerminalPage(style)
    for file in files {
      page.line((file.exists ? "exists, not changed: " : "wrote ") + TerminalText.safe(file.path))
    }
    page.paragraph(finding(of: starter), indent: 2)
    for job in jobs { page.paragraph(job.advice, indent: 2, label: "\(job.system.name): ") }
    if jobs.isEmpty {
      page.paragraph("no CI system was found; `highwater check` in a job of any system is enough", indent: 2)
    }
    writeNextSteps(starter, files, options, to: &page)
    return page.text
  }

  /// What was seen of the program.
  private static func finding(of starter: Starter) -> String {
    let command = "`\(TerminalText.safe(starter.scenario.target.command.description))`"
    guard starter.isBuilt else { return "\(command) is not built yet, so it was not run" }
    switch starter.scenario.ready?.condition {
    case nil: return "\(command) ran and ended by itself"
    case .tcp(_, let port):
      let isHTTP = starter.scenario.steps.contains { if case .repeat = $0.action { true } else { false } }
      return "\(command) \(isHTTP ? "answers HTTP" : "listens") on \(port.map { "port \($0)" } ?? "the port it is told")"
    case .unix(let path): return "\(command) listens on `\(TerminalText.safe(path))`"
    default: return "\(command) keeps running, and listens on no socket"
    }
  }

  private static func writeNextSteps(
    _ starter: Starter,
    _ files: [File],
    _ options: [String],
    to page: inout TerminalPage
  ) {
    page.gap()
    page.line(page.style.painted("What to do next", .strong))
    if !starter.isBuilt, let build = starter.build { page.line("  \(build)") }
    page.command([Tool.name, "check"] + options, indent: 2)
    page.command([Tool.name, "approve"] + options, indent: 2)
    page.command(["git", "add"] + files.filter { !$0.exists }.map(\.path) + ["baselines"], indent: 2)
    page.paragraph("`check` exits with 5 until there is a baseline, and after a rise with 1", indent: 2)
  }

  /// Why the program cannot be measured, for a command that fails when it is run.
  package static func text(_ failure: Failure, of starter: Starter, style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    let command = TerminalText.safe(starter.scenario.target.command.description)
    page.paragraph("error: no scenario can be written for `\(command)`: \(failure.problemText)", indent: 0)
    OutputLines.write(failure.output, lines: 12, to: &page)
    let build = starter.build.map { ", after `\($0)`" } ?? ""
    page.paragraph("name a command that works\(build): `highwater init -- COMMAND [ARG…]`", indent: 2, label: "hint: ")
    return page.text
  }
}

extension Starter.CI {
  fileprivate var name: String {
    switch self {
    case .gitHub: "GitHub"
    case .gitLab: "GitLab"
    case .jenkins: "Jenkins"
    }
  }
}
