import GateCore

/// A file for the result of a run in one format.
struct ReportFile: Sendable, Equatable {
  var format: ReportFormat
  /// `-` is standard output.
  var path: String

  init(_ format: ReportFormat, path: String) {
    (self.format, self.path) = (format, path)
  }

  var isStandardOutput: Bool { path == "-" }

  /// Checks that the file can be written, so that no time is spent on a result that would be lost.
  func prepare(in invocation: Invocation) throws(FileError) {
    if !isStandardOutput { try SafeFile.prepareToWrite(invocation.absolute(path)) }
  }

  func write(_ result: RunResult, context: SummaryContext, in invocation: Invocation) throws(FileError) {
    try write(format.row.content(result, context), in: invocation)
  }

  /// Writes any content of this format; what a log would take for a command is disarmed on standard output.
  func write(_ bytes: [UInt8], in invocation: Invocation) throws(FileError) {
    guard isStandardOutput else { return try SafeFile.write(bytes, to: invocation.absolute(path)) }
    let text = String(decoding: bytes, as: UTF8.self)
    invocation.console.print(format.row.hasOwnEscapes ? text : TerminalText.withoutCommands(text))
  }
}

extension SharedOptions {
  /// All files, with those of the shorter options.
  var reportFiles: [ReportFile] {
    [json.map { ReportFile(.json, path: $0) }, html.map { ReportFile(.html, path: $0) }].compactMap(\.self) + reports
  }

  /// Whether standard output has a report, so that messages go to standard error.
  var isOutputTaken: Bool { reportFiles.contains(where: \.isStandardOutput) }

  /// Refuses a file that has the name of a scenario: who forgets the file of `--json` names the scenario to run there.
  func refuseNames(of scenarios: [Scenario]) throws(RunnerError) {
    guard let file = reportFiles.first(where: { file in scenarios.contains { $0.name.text == file.path } }) else {
      return
    }
    throw RunnerError(
      problem: "`\(file.path)` is a scenario, but is given as the file of the \(file.format.rawValue) report",
      hint: "name a file and then the scenario; for a file of that name, write `./\(file.path)`")
  }

  func prepareReports(in invocation: Invocation) throws(FileError) {
    for file in reportFiles { try file.prepare(in: invocation) }
  }

  /// Writes all files, even if some cannot be written.
  ///
  /// - Returns: the errors of writing.
  func writeReports(of result: RunResult, context: SummaryContext, in invocation: Invocation) -> [FileError] {
    var failures: [FileError] = []
    for file in reportFiles {
      do throws(FileError) {
        try file.write(result, context: context, in: invocation)
      } catch {
        failures.append(error)
      }
    }
    return failures
  }

  /// Writes all files, prints the summary, and tells the CI system.
  ///
  /// - Throws: the first error of writing.
  func report(_ result: RunResult, context: SummaryContext, in invocation: Invocation) throws {
    let failures = writeReports(of: result, context: context, in: invocation)
    invocation.console.report(besides: self) { SummaryReport.text(result, style: $0, context: context) }
    invocation.reportToCI(result, context: context)
    if let failure = failures.first { throw failure }
  }
}
