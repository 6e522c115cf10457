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

/// What a job builds and checks, for the lines of its file.
struct JobContent {
  let starter: Starter
  /// The folder of the project file, relative to the repository's root; nil where they are the same.
  let folder: String?
  /// Options of `check` that name the project file.
  private let options: [String]

  /// What stands for the address of the Debian package.
  static let address = "https://…/highwater.deb"

  init(of starter: Starter, config: String?) {
    let (root, folder) = (starter.scenario.root, starter.scenario.target.workingDirectory)
    self.starter = starter
    self.folder = folder.hasPrefix("\(root)/") ? String(folder.dropFirst(root.count + 1)) : nil
    options = config.map { ["--config", $0] } ?? []
  }

  /// The command of the job, with the options of its reports.
  func check(_ reports: String...) -> String {
    ([Tool.name, "check"] + options + ["--json", "result.json"] + reports).map(ShellWords.quoted).joined(separator: " ")
  }

  /// A path below the project file's folder, from the repository's root.
  func below(_ path: String) -> String { folder.map { "\($0)/\(path)" } ?? path }
}
