import FoundationEssentials
import GateCore
import Glibc

@testable import GateApplication

/// A temporary project folder, removed on `deinit`.
final class ProjectFolder {
  /// An absolute path without links.
  let path: String

  /// Creates the folder, with a `.git` in it for a repository.
  init(isRepository: Bool = true, files: [String: String] = [:]) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/highwater-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    path = PathText.resolved(folder) ?? folder
    if isRepository { try makeFolder(".git") }
    for (name, text) in files { try write(name, text) }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
  }

  func write(_ name: String, _ text: String) throws {
    try write(name, bytes: Array(text.utf8))
  }

  func write(_ name: String, bytes: [UInt8]) throws {
    if let parent = PathText.parent(of: "\(path)/\(name)") {
      try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    }
    try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
  }

  /// Loads `highwater.yml` with this folder as the working directory.
  func load(
    _ name: String = "highwater.yml",
    environment: [String: String] = [:],
    webhooksNeeded: Bool = true
  ) throws(ProjectError) -> Project {
    try ProjectFile.load(
      name, environment: environment, webhooksNeeded: webhooksNeeded, workingDirectory: path
    )
  }

  /// The error message for `highwater.yml`, or `loads`.
  func verdict(environment: [String: String] = [:]) -> String {
    do throws(ProjectError) {
      _ = try load(environment: environment)
      return "loads"
    } catch {
      return error.description
    }
  }
}

extension ProjectFolder {
  /// A project file with a single scenario that has these lines.
  convenience init(scenarioLines: String) throws {
    let lines = scenarioLines.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
    try self.init(files: ["highwater.yml": "version: 1\nscenarios:\n  - name: load\n\(lines.joined(separator: "\n"))\n"]
    )
  }
}

/// Creates a FIFO; false if the kernel refuses.
func makeFIFO(_ path: String) -> Bool {
  mkfifo(path, 0o600) == 0
}
