import Foundation
import GateFiles
import Testing

@Suite("Querying git")
struct GitQueryTests {
  /// Passes `body` a temporary repository with a commit for each message, and the commit IDs.
  private func withRepository(_ messages: [String], body: (String, [String]) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("highwater-git-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try git(["init", "-q"], in: folder)
    let commits = try messages.map { message in
      let author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
      try git(author + ["commit", "-q", "--allow-empty", "-m", message], in: folder)
      return try git(["rev-parse", "HEAD"], in: folder)
    }
    try body(folder.path, commits)
  }

  @discardableResult
  private func git(_ arguments: [String], in folder: URL) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git", "-C", folder.path] + arguments
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test("A commit's subject is the first line of its message, cut to 300 characters")
  func subject() throws {
    let long = String(repeating: "word ", count: 100)
    try withRepository(["Keep “all” rows\n\nBecause.", long]) { folder, commits in
      #expect(GitQuery.subject(of: commits[0], in: folder) == "Keep “all” rows")
      let cut = try #require(GitQuery.subject(of: commits[1], in: folder))
      #expect(cut.hasPrefix("word word ") && cut.hasSuffix("..") && cut.count == 300)
    }
  }

  @Test("Commits since a given commit are counted")
  func count() throws {
    try withRepository(["one", "two", "three"]) { folder, commits in
      #expect(GitQuery.commits(since: commits[0], in: folder) == 2)
      #expect(GitQuery.commits(since: commits[2], in: folder) == 0)
    }
  }

  @Test("Changes of tracked files are uncommitted changes; outside a checkout they are unknown")
  func changes() throws {
    try withRepository(["one"]) { folder, _ in
      let file = URL(fileURLWithPath: folder).appending(path: "a.txt")
      try Data("one".utf8).write(to: file)
      #expect(GitQuery.hasUncommittedChanges(in: folder) == false)
      try git(["add", "a.txt"], in: URL(fileURLWithPath: folder))
      #expect(GitQuery.hasUncommittedChanges(in: folder) == true)
      let author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
      try git(author + ["commit", "-q", "-m", "two"], in: URL(fileURLWithPath: folder))
      #expect(GitQuery.hasUncommittedChanges(in: folder) == false)
      try Data("two".utf8).write(to: file)
      #expect(GitQuery.hasUncommittedChanges(in: folder) == true)
    }
    #expect(GitQuery.hasUncommittedChanges(in: "/nowhere") == nil)
  }

  @Test("The user's name is that of the checkout")
  func userName() throws {
    try withRepository(["one"]) { folder, _ in
      try git(["config", "user.name", "Ann Example"], in: URL(fileURLWithPath: folder))
      #expect(GitQuery.userName(in: folder) == "Ann Example")
    }
    #expect(GitQuery.userName(in: "/dev/null/nowhere") == nil)
  }

  @Test(
    "An unknown or malformed commit has no subject and no count",
    arguments: [String(repeating: "0", count: 40), "HEAD", "--all", "", "$(id)"])
  func unknown(commit: String) throws {
    try withRepository(["one"]) { folder, _ in
      #expect(GitQuery.subject(of: commit, in: folder) == nil)
      #expect(GitQuery.commits(since: commit, in: folder) == nil)
    }
    #expect(GitQuery.subject(of: commit, in: "/nowhere") == nil)
  }
}
