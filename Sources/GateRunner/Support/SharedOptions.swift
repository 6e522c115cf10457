import GateCore
import GateFiles
import GateReports

/// The options that several commands share.
package struct SharedOptions: Sendable, Equatable {
  package var config: String?
  package var baselines: String?
  package var artifacts: String?
  /// The history's file; `off` is none.
  package var history: String?
  /// A name for this class of machines.
  package var environment: String?
  /// Where the result file goes besides the artifacts; `-` is standard output.
  package var json: String?
  /// Where the run page goes; `-` is standard output.
  package var html: String?

  package init() {}
}

extension SharedOptions {
  /// The options that a command must be given again to mean the same project.
  var repeated: [String] {
    let pairs = [
      ("--config", config), ("--baselines", baselines), ("--artifacts", artifacts), ("--history", history),
      ("--environment", environment),
    ]
    return pairs.flatMap { name, value in value.map { [name, $0] } ?? [] }
  }

  /// Finds and reads the project file; options go before what it says.
  func loadProject(in invocation: Invocation, webhooksNeeded: Bool) throws -> Project {
    let file = try ProjectFile.locate(explicit: config, from: invocation.workingDirectory)
    var project = try ProjectFile.load(file, environment: invocation.variables, webhooksNeeded: webhooksNeeded)
    if let baselines { project.baselines = invocation.absolute(baselines) }
    if let artifacts { project.artifacts = invocation.absolute(artifacts) }
    if let history { project.history = history == "off" ? nil : invocation.absolute(history) }
    if let environment { project.environment.name = environment }
    return project
  }

  /// Puts the result file where `--json` asks for it, if it does.
  func write(_ result: [UInt8], in invocation: Invocation) throws(FileError) {
    guard let json else { return }
    try put(result, at: json, in: invocation)
  }

  /// Puts the run page where `--html` asks for it, if it does.
  func writePage(_ page: () -> String, in invocation: Invocation) throws(FileError) {
    guard let html else { return }
    try put(Array(page().utf8), at: html, in: invocation)
  }

  private func put(_ report: [UInt8], at path: String, in invocation: Invocation) throws(FileError) {
    if path == "-" {
      invocation.console.print(String(decoding: report, as: UTF8.self))
    } else {
      try SafeFile.write(report, to: invocation.absolute(path))
    }
  }

  /// Whether standard output carries a report, so that words for people go to standard error.
  var isOutputTaken: Bool { json == "-" || html == "-" }
}

extension FileWords {
  /// The texts of the reports, which result files carry beside the values.
  static let reports = FileWords(
    reason: ResultText.reason(of:), note: ResultText.note(_:in:), recordingNote: ResultText.recordingNote,
    failure: ResultText.failure, end: ResultText.end)
}
