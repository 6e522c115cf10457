package import GateCore

/// What a report needs to know besides the result.
package struct SummaryContext: Sendable, Equatable {
  package enum Detail: Sendable, CaseIterable {
    /// Only the line of counts and the name of the exit code.
    case quiet
    case normal
    /// Also every repetition, and the metrics that pass.
    case verbose
  }

  package enum Command: Sendable, CaseIterable {
    case check, compare, record
  }

  /// How this result can be approved.
  package enum ApprovalSource: Sendable, Equatable {
    /// It cannot; no command is suggested.
    case unavailable
    /// `highwater approve` takes the last check.
    case lastCheck
    /// `highwater approve --from FILE`.
    case file(String)
  }

  package var command: Command
  package var detail: Detail
  /// The exit code that the last line names; it may differ from the verdict's own, as with a missing baseline that is
  /// allowed.
  package var exitCode: ExitCode
  /// Where the result file is.
  package var resultPath: String?
  /// The trend page; nil where none was written.
  package var trendPath: String?
  /// The folder that holds the whole output of targets and clients.
  package var outputFolder: String?
  /// The file with a scenario's whole output, where it is known.
  package var outputs: [ScenarioName: String]
  /// Options that a command in a hint must repeat, as in `["--config", "ci/other.yml"]`.
  package var options: [String]
  package var approval: ApprovalSource
  /// The words of the command that `record` measured.
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
