import GateCore

/// What is known of a format in which a run's result can be written, with the function that writes it.
///
/// The file of each format has its row. No member has a default, so that nothing is forgotten.
struct ReportFormatRow: Sendable {
  /// What the format is for, in the help of `--report` and in `ci-systems.md`.
  let purpose: String
  /// The usual ending of its files.
  let fileExtension: String
  /// Whether a backslash would be wrong in it: then it has no text that a CI system could take for a command.
  let hasOwnEscapes: Bool
  /// The content of the file.
  let content: @Sendable (RunResult, SummaryContext) -> [UInt8]

  init(
    purpose: String,
    fileExtension: String,
    hasOwnEscapes: Bool,
    content: @escaping @Sendable (RunResult, SummaryContext) -> [UInt8]
  ) {
    (self.purpose, self.fileExtension) = (purpose, fileExtension)
    (self.hasOwnEscapes, self.content) = (hasOwnEscapes, content)
  }

  init(
    purpose: String,
    fileExtension: String,
    hasOwnEscapes: Bool,
    text: @escaping @Sendable (RunResult, SummaryContext) -> String
  ) {
    self.init(purpose: purpose, fileExtension: fileExtension, hasOwnEscapes: hasOwnEscapes) {
      Array(text($0, $1).utf8)
    }
  }
}
