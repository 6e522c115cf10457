import GateCore
import GateFiles

/// The options that several commands share (CONTRACT section 2).
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
  func loadProject(in workplace: Workplace, webhooksNeeded: Bool) throws -> Project {
    let file = try ProjectFile.locate(explicit: config, from: workplace.workingDirectory)
    var project = try ProjectFile.load(file, environment: workplace.variables, webhooksNeeded: webhooksNeeded)
    if let baselines { project.baselines = workplace.absolute(baselines) }
    if let artifacts { project.artifacts = workplace.absolute(artifacts) }
    if let history { project.history = history == "off" ? nil : workplace.absolute(history) }
    if let environment { project.environment.name = environment }
    return project
  }

  /// Puts the result file where `--json` asks for it, if it does.
  func write(_ result: [UInt8], in workplace: Workplace) throws(FileError) {
    guard let json else { return }
    if isOutputTaken {
      workplace.console.print(String(decoding: result, as: UTF8.self))
    } else {
      try SafeFile.write(result, to: workplace.absolute(json))
    }
  }

  /// Whether standard output carries the result file, so that words for people go to standard error.
  var isOutputTaken: Bool { json == "-" }
}
