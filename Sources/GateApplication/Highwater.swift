package import ArgumentParser

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
