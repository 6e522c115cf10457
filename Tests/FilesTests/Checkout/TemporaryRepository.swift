import Foundation
import Testing

/// A git repository in a temporary folder, which is removed with it.
final class TemporaryRepository {
  private let parent: URL
  let folder: URL
  var path: String { folder.path }

  init() throws {
    parent = FileManager.default.temporaryDirectory.appending(component: "highwater-git-\(UUID().uuidString)")
    folder = parent.appending(component: "a b")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try git(["init", "-q", "-b", "main"])
  }

  deinit {
    try? FileManager.default.removeItem(at: parent)
  }

  @discardableResult
  func git(_ arguments: [String], variables: [String: String] = [:]) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let options = ["user.name=Ann", "user.email=ann@example.org", "protocol.file.allow=always"].flatMap { ["-c", $0] }
    process.arguments = ["git", "-C", path] + options + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "git \(arguments)")
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  func shell(_ command: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.currentDirectoryURL = folder
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(command)")
  }

  func write(_ text: String, to path: String) throws {
    let file = folder.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// Commits all files; returns the commit's ID.
  @discardableResult
  func commit(_ message: String) throws -> String {
    try git(["add", "-A"])
    try git(["commit", "-q", "-m", message])
    return try git(["rev-parse", "HEAD"])
  }

  /// A clone in another folder, which is removed together with this repository.
  func clone(_ options: [String], to name: String) throws -> String {
    let clone = parent.appending(component: name).path
    try git(["clone", "-q"] + options + ["file://\(path)", clone])
    return clone
  }
}
