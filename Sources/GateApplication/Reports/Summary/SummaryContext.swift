import GateCore

/// The information for a report besides the result.
struct SummaryContext: Sendable, Equatable {
  enum Detail: Sendable, CaseIterable {
    /// Only the line of counts and the exit code name.
    case quiet
    case normal
    /// Also every repetition, and metrics that pass.
    case verbose
  }

  enum Command: Sendable, CaseIterable {
    case check, suite, compare, record
  }

  /// How this result can be approved.
  enum ApprovalSource: Sendable, Equatable {
    /// It cannot; no command is suggested.
    case unavailable
    /// `highwater approve` approves the last check.
    case lastCheck
    /// `highwater approve --from FILE`.
    case file(String)
  }

  var command: Command = .check
  var detail: Detail = .normal
  /// The exit code in the last line; it may differ from the verdict's, as for a missing baseline that is allowed.
  var exitCode: ExitCode
  /// The path of the result file.
  var resultPath: String?
  /// The trend page; nil if it was not written.
  var trendPath: String?
  /// The page with the flame graphs of regressions; nil without one.
  var explanationPath: String?
  /// What the profiles of regressions have in common with those of the other build.
  var explanations: [ScenarioName: ProfileComparison] = [:]
  /// The folder with the whole output of targets and clients.
  var outputFolder: String?
  /// The file with a scenario's whole output, if known.
  var outputs: [ScenarioName: String] = [:]
  /// Options that a command in a hint must repeat, as in `["--config", "ci/other.yml"]`.
  var options: [String] = []
  /// Further options that a suggested `check` must repeat, as in `["--against-ref", "main"]`.
  var checkOptions: [String] = []
  var approval: ApprovalSource = .lastCheck
  /// The project file, relative to the repository's root; nil without one.
  var projectFile: String?
  /// Where the scenarios are defined, with files relative to the repository's root.
  var places: [ScenarioName: SourcePlace] = [:]
  /// The command that `record` or `suite` measured.
  var measured: [String] = []
}

extension SummaryContext {
  /// The command that measures scenarios again, with further options; nil if none does.
  func measuring(_ names: [String], with further: [String] = []) -> [String]? {
    switch command {
    case .check: [Tool.name, "check"] + further + checkOptions + options + Self.arguments(names)
    case .suite: [Tool.name, "suite"] + further + checkOptions + options + ["--"] + measured
    case .record: [Tool.name, "record"] + further + options + ["--"] + measured
    case .compare: nil
    }
  }

  /// A name that begins with a dash would be parsed as an option.
  static func arguments(_ names: [String]) -> [String] {
    (names.contains { $0.hasPrefix("-") } ? ["--"] : []) + names
  }
}
