/// The formats in which a run's result can be written, by their names in `--report FORMAT=FILE`.
///
/// A new one is a file in `Reports` with its row and what it writes, and a case here.
enum ReportFormat: String, Sendable, CaseIterable {
  case json, html, junit, markdown, tap, codequality, openmetrics, agent

  var purpose: String { row.purpose }
  var fileExtension: String { row.fileExtension }

  var row: ReportFormatRow {
    switch self {
    case .json: ResultFile.row
    case .html: RunPage.row
    case .junit: JUnitReport.row
    case .markdown: MarkdownReport.row
    case .tap: TAPReport.row
    case .codequality: CodeQualityReport.row
    case .openmetrics: OpenMetricsReport.row
    case .agent: AgentReport.row
    }
  }
}

extension ResultFile {
  fileprivate static let row = ReportFormatRow(
    purpose: "the result file, for `approve`, `compare` and programs", fileExtension: "json", hasOwnEscapes: true
  ) { result, _ in
    encode(result, words: .reports)
  }
}
