package import ArgumentParser
import GateCore

/// The command line: the only place that parses arguments and ends the process.
package struct Highwater: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "highwater",
    abstract: "Fails a build when a program's memory rises.",
    discussion: """
      Highwater runs scripted scenarios of a program, measures its whole process tree with the kernel's own counters, and \
      compares peak and steady resident memory with baselines that your team approved. The exit code is the verdict.

      To start:
        highwater init       # writes a highwater.yml for the program in this folder
        highwater check      # runs all scenarios; exit code 5: no baseline yet
        highwater approve    # makes the result the baseline; commit it
        highwater check      # from now on 0 is a pass, 1 a regression

      Without a project file: highwater record -- COMMAND [ARG…]

      Exit codes
        0 pass           nothing got worse
        1 regression     a gated metric is worse than its tolerance or limit
        2 usage          bad arguments or files, or nothing can be measured here
        3 failed         a target crashed, timed out or a step failed
        4 inconclusive   undecided: too noisy, or a metric is missing
        5 no-baseline    no baseline, or none for this environment
        6 delivery       a webhook failed (only with --require-delivery)
        130, 143         interrupted by SIGINT, SIGTERM
      """,
    version: VersionReport.text(commit: ThisProcess.buildCommit),
    subcommands: [
      InitCommand.self, CheckCommand.self, ApproveCommand.self, ExplainCommand.self, TrendCommand.self,
      DoctorCommand.self,
    ],
    groupedSubcommands: [
      CommandGroup(
        name: "More",
        subcommands: [
          SuiteCommand.self, RecordCommand.self, CompareCommand.self, MergeCommand.self, BisectCommand.self,
          LimitCommand.self,
          NoiseCommand.self, SelfCheckCommand.self, HistoryCommand.self, ValidateCommand.self, LaunchesCommand.self,
        ])
    ]
  )

  package init() {}
}

extension Highwater {
  /// The parser's message on arguments that cannot be parsed, or on a command that does not exist, with the one that was
  /// most likely meant.
  package static func message(for error: any Error, in arguments: [String]) -> String {
    guard exitCode(for: error) != .success, let unknown = unknownCommand(in: arguments) else {
      return fullMessage(for: error)
    }
    let meant = unknown.closest.map { " Did you mean '\($0)'?" } ?? ""
    return fullMessage(for: ValidationError("Unknown command '\(unknown.word)'.\(meant)"))
  }

  /// The first word that stands in the place of a command and names none.
  private static func unknownCommand(in arguments: [String]) -> (word: String, closest: String?)? {
    var command: any ParsableCommand.Type = Self.self
    for word in arguments {
      let commands = command.configuration.subcommands
      let names = commands.compactMap { $0.configuration.commandName }
      if names.isEmpty || word.hasPrefix("-") || word == "help" { return nil }
      guard let next = commands.first(where: { $0.configuration.commandName == word }) else {
        return (TerminalText.safe(word), NearMiss.closest(to: word, among: names))
      }
      command = next
    }
    return nil
  }
}
