import Foundation
import Testing

@testable import GateApplication

@Suite("Reading a git checkout")
struct GitCheckoutTests {
  private static let commit = "4f2a91c0d6e8b7a5f3c1d2e4b6a8c0d2e4f6a8b0"

  /// Passes `body` a temporary folder with these files.
  private func withFolder(_ files: [String: String], body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("highwater-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    for (path, text) in files {
      let url = folder.appendingPathComponent(path)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    try body(folder.path)
  }

  @Test("A loose ref is read, also from a subfolder of the checkout")
  func loose() throws {
    let files = [
      ".git/HEAD": "ref: refs/heads/topic/one\n", ".git/refs/heads/topic/one": "\(Self.commit)\n", "src/x": "",
    ]
    try withFolder(files) { folder in
      let checkout = GitCheckout(containing: "\(folder)/src")
      #expect(checkout?.branch == "topic/one")
      #expect(checkout?.commit == Self.commit)
    }
  }

  @Test("A packed ref is read")
  func packed() throws {
    let unrelated = String(repeating: "1", count: 40)
    let packed =
      "# pack-refs with: peeled\n\(unrelated) refs/heads/domain\n\(Self.commit) refs/heads/main\n^\(unrelated)\n"
    try withFolder([".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": packed]) { folder in
      #expect(GitCheckout(containing: folder)?.commit == Self.commit)
    }
  }

  @Test("A detached HEAD has a commit and no branch; a new repository has a branch and no commit")
  func detachedAndFresh() throws {
    try withFolder([".git/HEAD": "\(Self.commit)\n"]) { folder in
      #expect(GitCheckout(containing: folder)?.commit == Self.commit)
      #expect(GitCheckout(containing: folder)?.branch == nil)
    }
    try withFolder([".git/HEAD": "ref: refs/heads/main\n"]) { folder in
      #expect(GitCheckout(containing: folder)?.commit == nil)
      #expect(GitCheckout(containing: folder)?.branch == "main")
    }
  }

  @Test("A linked worktree has its own HEAD and shares the refs of the main checkout")
  func worktree() throws {
    let files = [
      "main/.git/worktrees/wt/HEAD": "ref: refs/heads/wt\n", "main/.git/worktrees/wt/commondir": "../..\n",
      "main/.git/refs/heads/wt": "\(Self.commit)\n", "wt/.git": "gitdir: ../main/.git/worktrees/wt\n",
    ]
    try withFolder(files) { folder in
      #expect(GitCheckout(containing: "\(folder)/wt")?.commit == Self.commit)
    }
  }

  @Test(
    "A malformed HEAD gives no commit and reads no file outside `.git`",
    arguments: ["ref: ../../../etc/passwd\n", "not a commit\n", "", "ref: refs/heads/../../secret\n"]
  )
  func hostile(head: String) throws {
    try withFolder([".git/HEAD": head, "secret": "\(Self.commit)\n"]) { folder in
      #expect(GitCheckout(containing: folder)?.commit == nil)
    }
  }

  @Test("The commit of this repository agrees with `git rev-parse`")
  func real() throws {
    let git = Process()
    git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    git.arguments = [
      "git", "-C", URL(fileURLWithPath: #filePath).deletingLastPathComponent().path, "rev-parse", "HEAD",
    ]
    let pipe = Pipe()
    git.standardOutput = pipe
    try git.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
    #expect(GitCheckout(containing: here)?.commit == text.split(separator: "\n").first.map(String.init))
  }
}
