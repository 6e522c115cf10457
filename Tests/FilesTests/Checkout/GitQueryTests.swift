import Foundation
import Testing

@testable import GateApplication

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

  @Test("A file that was edited in the moment of the commit, with the same size, belongs to the tree of all files")
  func editedAtOnce() throws {
    try withRepository(["Start"]) { folder, _ in
      let (root, file) = (URL(fileURLWithPath: folder), "\(folder)/source.c")
      func write(_ text: String, to path: String) throws {
        // Coarse clocks give one time to all that is written within some milliseconds.
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: path)
      }
      try git(["config", "core.trustctime", "false"], in: root)
      try write("a", to: file)
      try git(["add", "source.c"], in: root)
      try write("b", to: file)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: "\(folder)/.git/index")
      try FileManager.default.createDirectory(atPath: "\(folder)/.git/scratch", withIntermediateDirectories: false)
      let tree = GitQuery.treeOfFiles(in: folder, usingFolder: "\(folder)/.git/scratch")
      try git(["add", "source.c"], in: root)
      #expect(try tree == git(["write-tree"], in: root))
    }
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

  @Test("A configured filter does not run for the hash of changes")
  func filters() throws {
    let repository = try TemporaryRepository()
    try repository.write("one", to: "a.txt")
    try repository.write("* filter=f\n", to: ".gitattributes")
    let commit = try repository.commit("one")
    try repository.git(["config", "filter.f.clean", "touch '\(repository.path)/ran'; cat"])
    try repository.write("two", to: "a.txt")
    #expect(GitQuery.hashOfChanges(since: commit, in: repository.path) != nil)
    #expect(!FileManager.default.fileExists(atPath: "\(repository.path)/ran"))
  }

  @Test("The files of a folder that git tracks are known, and none outside of a repository")
  func tracked() throws {
    let repository = try TemporaryRepository()
    try repository.write("", to: "f/a é.txt")
    try repository.commit("one")
    try repository.write("", to: "f/b.txt")
    let names = ["a é.txt", "b.txt", "*"]
    #expect(GitQuery.tracked(names, in: "\(repository.path)/f") == ["a é.txt"])
    #expect(GitQuery.tracked(names, in: "/nowhere") == [])
    #expect(GitQuery.isTracked("\(repository.path)/f/a é.txt") && !GitQuery.isTracked("\(repository.path)/f/b.txt"))
  }

  @Test("A scenario that moves to another file, also in two commits, is as old as before")
  func movedScenario() throws {
    let repository = try TemporaryRepository()
    func commit(_ files: [String: String], removing old: String? = nil, at seconds: Int) throws {
      for (name, text) in files { try repository.write(text, to: name) }
      if let old { try repository.git(["rm", "-q", old]) }
      try repository.git(["add", "-A"])
      try repository.git(["commit", "-q", "-m", "x"], variables: ["GIT_COMMITTER_DATE": "\(seconds) +0000"])
    }
    func first() -> GitQuery.FirstCommit {
      GitQuery.firstCommit(naming: "load", in: ["\(repository.path)/.highwater.yml"], of: repository.path)
    }
    let text = "version: 1\nscenarios:\n  - name: load\n"
    try commit(["ci/jobs.yml": "name: load\n"], at: 1_000_000_000)
    try commit(["a.yml": text], at: 1_100_000_000)
    try commit(["b é.yml": text], at: 1_200_000_000)
    try commit(["c": "c"], removing: "a.yml", at: 1_300_000_000)
    try commit([".highwater.yml": text], removing: "b é.yml", at: 1_400_000_000)
    #expect(first() == .at(Date(timeIntervalSince1970: 1_100_000_000)))
    try commit([".highwater.yml": text.replacing("load", with: "other")], at: 1_500_000_000)
    try commit([".highwater.yml": text], at: 1_600_000_000)
    #expect(first() == .at(Date(timeIntervalSince1970: 1_100_000_000)))
  }

  @Test("The tree of the files is unknown beside a large file that git neither tracks nor ignores")
  func largeFile() throws {
    let repository = try TemporaryRepository()
    try repository.write("*.img\n", to: ".gitignore")
    try repository.commit("one")
    func tree() throws -> String? {
      let scratch = try ProjectFolder()
      return GitQuery.treeOfFiles(in: repository.path, usingFolder: scratch.path)
    }
    try repository.shell("truncate -s 1G ignored.img && truncate -s 1M small")
    #expect(try tree() != nil)
    try repository.shell("truncate -s 1G large")
    #expect(try tree() == nil)
  }

  @Test("A list that is too long hides no tracked file")
  func longList() throws {
    let repository = try TemporaryRepository()
    try repository.write("", to: "a.json")
    let name = String(repeating: "x", count: 200)
    for index in 0..<5500 { try repository.write("", to: "z/\(name)\(index)") }
    try repository.git(["add", "."])
    #expect(GitQuery.tracked(["a.json", "z"], in: repository.path).contains("a.json"))
  }

  @Test("A scenario exists since the commit that first has its name, whatever follows")
  func firstCommit() throws {
    let repository = try TemporaryRepository()
    func first(_ name: String, in root: String? = nil) -> GitQuery.FirstCommit {
      let root = root ?? repository.path
      return GitQuery.firstCommit(naming: name, in: ["\(root)/highwater.yml", "\(root)/more/*.yml"], of: root)
    }
    func commit(_ text: String, to file: String, at seconds: Int) throws {
      try repository.write(text, to: file)
      try repository.git(["add", "-A"])
      try repository.git(["commit", "-q", "-m", "x"], variables: ["GIT_COMMITTER_DATE": "@\(seconds) +0000"])
    }
    #expect(first("load") == .missing)
    try commit("- name: load-big\n", to: "highwater.yml", at: 1_000_000_000)
    #expect(first("load") == .missing)
    try commit("- name: load-big\n- name: load\n", to: "highwater.yml", at: 1_000_000_100)
    try commit("- {name: 'a+b (x)'}\n", to: "more/x.yml", at: 1_000_000_200)
    try commit("- name: load\n  tags: [a]\n", to: "highwater.yml", at: 1_000_000_300)
    #expect(first("load-big") == .at(Date(timeIntervalSince1970: 1_000_000_000)))
    #expect(first("load") == .at(Date(timeIntervalSince1970: 1_000_000_100)))
    #expect(first("a+b (x)") == .at(Date(timeIntervalSince1970: 1_000_000_200)))
    let shallow = try repository.clone(["--depth", "2"], to: "shallow")
    #expect(first("load", in: shallow) == .unknown)
    #expect(first("load", in: "/nowhere") == .missing)
  }
}
