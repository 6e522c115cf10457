import GateCore

/// The job of a CI system that `init` writes, or tells how to add.
package struct StarterJob: Sendable {
  /// The name of the CI system.
  let system: String
  /// The file from the repository's root; nil for a system whose only file exists already.
  package let path: String?
  /// The content of the file.
  package let text: String
  /// What is to be done with the file, or without one, as a sentence.
  let advice: String
}

/// What a job checks, for its file.
struct JobContent {
  let starter: Starter
  /// Options of `check` in the repository's root that name the project file; nil if `check` finds it there.
  let options: String?

  init(of starter: Starter, config: String?) {
    let (root, folder) = (starter.scenario.root, starter.scenario.target.workingDirectory)
    self.starter = starter
    let below = folder.hasPrefix("\(root)/") ? String(folder.dropFirst(root.count)) + "/" : nil
    let path = below.map { "\($0.dropFirst())\(config ?? ProjectFile.firstName)" } ?? config
    options = path.map { "--config \(ShellWords.quoted($0))" }
  }

  /// The command of the job, with the options of its reports.
  func check(_ reports: String...) -> String {
    ([Tool.name, "check"] + [options].compactMap(\.self) + reports.map(ShellWords.quoted)).joined(separator: " ")
  }

  /// The ready-made pipeline of a system.
  static func pipeline(_ system: String) -> String {
    guard let text = EmbeddedText.named("\(system).yml") else {
      preconditionFailure("the build has embedded the pipeline of \(system)")
    }
    // The text ends with the newline of its file and that of the literal.
    return text
  }
}
