/// The formats in which a run's result can be written.
package enum ReportFormat: String, Sendable, CaseIterable {
  /// The result file.
  case json
  /// The run page.
  case html
  case junit, markdown, tap
  /// GitLab's code quality report.
  case codequality
  case openmetrics
  /// A short text for a coding agent.
  case agent
}
