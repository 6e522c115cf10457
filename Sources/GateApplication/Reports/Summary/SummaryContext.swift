package import GateCore

/// The information for a report besides the result.
package struct SummaryContext: Sendable, Equatable {
  package enum Detail: Sendable, CaseIterable {
    /// Only the line of counts and the exit code name.
    case quiet
    case normal
    /// Also every repetition, and metrics that pass.
    case verbose
  }

  package enum Command: Sendable, CaseIterable {
    case check, compare, record
  }

  /// How this result can be approved.
  package enum ApprovalSource: Sendable, Equatable {
    /// It cannot; no command is suggested.
    case unavailable
    /// `highwater approve` approves the last check.
    case lastCheck
    /// `highwater approve --from FILE`.
    case file(String)
  }

  package var command: Command
  package var detail: Detail
  /// The exit code in the last line; it may differ from the verdict's, as for a missing baseline that is allowed.
  package var exitCode: ExitCode
  /// The path of the result file.
  package var resultPath: String?
  /// The trend page; nil if it was not written.
  package var trendPath: String?
  /// The page with the flame graphs of regressions; nil without one.
  package var explanationPath: String?
  /// What the profiles of regressions have in common with those of the other build.
  package var explanations: [ScenarioName: ProfileComparison] = [:]
  /// The folder with the whole output of targets and clients.
  package var outputFolder: String?
  /// The file with a scenario's whole output, if known.
  package var outputs: [ScenarioName: String]
  /// Options that a command in a hint must repeat, as in `["--config", "ci/other.yml"]`.
  package var options: [String]
  /// Further options that a suggested `check` must repeat, as in `["--against-ref", "main"]`.
  package var checkOptions: [String] = []
  package var approval: ApprovalSource
  /// The project file, relative to the repository's root; nil without one.
  package var projectFile: String?
  /// Where the scenarios are defined, with files relative to the repository's root.
  package var places: [ScenarioName: SourcePlace] = [:]
  /// The command that `record` measured.
  package var recorded: [String] = []

  package init(
    command: Command = .check,
    detail: Detail = .normal,
    exitCode: ExitCode,
    resultPath: String? = nil,
    outputFolder: String? = nil,
    outputs: [ScenarioName: String] = [:],
    options: [String] = [],
    approval: ApprovalSource = .lastCheck
  ) {
    self.command = command
    self.detail = detail
    self.exitCode = exitCode
    self.resultPath = resultPath
    self.outputFolder = outputFolder
    self.outputs = outputs
    self.options = options
    self.approval = approval
  }
}
