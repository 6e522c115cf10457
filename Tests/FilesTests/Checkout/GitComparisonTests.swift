import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("The code of a checkout beside a commit")
struct GitComparisonTests {
  private let lines = (1...30).map { "line \($0)" }

  private func text(_ lines: [String]) -> String { lines.map { "\($0)\n" }.joined() }

  private func replacing(_ number: Int, by line: String) -> String {
    text(lines.enumerated().map { $0 + 1 == number ? line : $1 })
  }

  /// What is in the checkout now, beside a commit.
  private func compared(with commit: String, in folder: String, isDirty: Bool = false) -> GitComparison? {
    MeasuredCode(in: folder, isDirty: isDirty).flatMap { GitComparison(with: commit, in: folder, of: $0) }
  }

  /// As in `src/a.c 3..<4: 4f2c9e1 subject`, with the commits' subjects only.
  private func summary(_ comparison: GitComparison?) throws -> [String] {
    let comparison = try #require(comparison)
    return comparison.files.flatMap { file -> [String] in
      guard let text = comparison.text(of: file) else { return [file.path] }
      return text.parts.map { part in
        let authors = comparison.authors(of: part, in: text)
        let subjects = authors.commits.compactMap(\.subject) + (authors.isUncommitted ? ["uncommitted"] : [])
        return "\(file.path) \(part.before) \(part.now): \(subjects.joined(separator: ", "))"
      }
    }
  }

  @Test("Changed, removed and added lines are found with their commits, through other names")
  func names() throws {
    let repository = try TemporaryRepository()
    try repository.write(text(lines), to: "src/a.c")
    let base = try repository.commit("Begin")
    try repository.write(replacing(5, by: "five"), to: "src/a.c")
    try repository.commit("Change five")
    try repository.git(["mv", "src/a.c", "src/b c.c"])
    try repository.commit("Rename")
    try repository.write(text(lines.filter { $0 != "line 20" }).replacing("line 5\n", with: "five\n"), to: "src/b c.c")
    try repository.commit("Remove twenty\n\nBecause.")
    try repository.write("new\n", to: "new.c")
    try repository.commit("Add a file")
    let found = try summary(compared(with: base, in: repository.path))
    #expect(
      found == [
        "new.c 1..<1 1..<2: Add a file", "src/b c.c 5..<6 5..<6: Change five",
        "src/b c.c 20..<21 20..<20: Remove twenty",
      ])
  }

  @Test("What is committed or edited after the begin of the measuring does not count")
  func later() throws {
    let repository = try TemporaryRepository()
    try repository.write(text(lines), to: "a.c")
    let base = try repository.commit("Begin")
    try repository.write(replacing(2, by: "two"), to: "a.c")
    try repository.commit("Change two")
    let measured = try #require(MeasuredCode(in: repository.path, isDirty: false))
    try repository.write(replacing(9, by: "nine"), to: "a.c")
    try repository.commit("Change nine")
    try repository.write("", to: "a.c")
    let found = GitComparison(with: base, in: repository.path, of: measured)
    #expect(try summary(found) == ["a.c 2..<3 2..<3: Change two"])
    #expect(found?.text(asItIs: "a.c")?.now == replacing(2, by: "two").split(separator: "\n").map(String.init))
  }

  @Test("Of lines that a comment replaced, the commit that removed them is named")
  func removedBesideComment() throws {
    let repository = try TemporaryRepository()
    try repository.write(text(lines), to: "a.c")
    let base = try repository.commit("Begin")
    try repository.write(text(lines.filter { $0 != "line 7" }), to: "a.c")
    try repository.commit("Remove seven")
    try repository.write(replacing(7, by: "// six, then eight"), to: "a.c")
    try repository.commit("Comment on the order")
    #expect(try summary(compared(with: base, in: repository.path)) == ["a.c 7..<8 7..<8: Remove seven"])
  }

  @Test("Of a merge the commit that changed the lines is named, and removed lines at the end have one, too")
  func merge() throws {
    let repository = try TemporaryRepository()
    try repository.write(text(lines), to: "a.c")
    let base = try repository.commit("Begin")
    try repository.git(["switch", "-q", "-c", "side"])
    try repository.write(text(Array(lines.dropLast())), to: "a.c")
    try repository.commit("Remove the last")
    try repository.git(["switch", "-q", "main"])
    try repository.write(replacing(2, by: "two"), to: "a.c")
    try repository.commit("Change two")
    try repository.git(["merge", "-q", "--no-edit", "side"])
    let found = try summary(compared(with: base, in: repository.path))
    #expect(found == ["a.c 2..<3 2..<3: Change two", "a.c 30..<31 30..<30: Remove the last"])
  }

  @Test("Uncommitted changes count only if the result is of them, and lines of commits are still found")
  func dirty() throws {
    let repository = try TemporaryRepository()
    try repository.write(text(lines), to: "a.c")
    let base = try repository.commit("Begin")
    try repository.write(replacing(20, by: "twenty"), to: "a.c")
    try repository.commit("Change twenty")
    try repository.write("first\nsecond\n" + replacing(20, by: "twenty").replacing("line 9\n", with: ""), to: "a.c")
    try repository.write("x = 1\n", to: "new/tool.py")
    try repository.write("*.o\n", to: ".git/info/exclude")
    try repository.write("", to: "tool.o")
    let clean = try #require(compared(with: base, in: repository.path))
    #expect(try summary(clean) == ["a.c 20..<21 20..<21: Change twenty"])
    let dirty = try #require(compared(with: base, in: repository.path, isDirty: true))
    #expect(
      try summary(dirty) == [
        "a.c 1..<1 1..<3: uncommitted", "a.c 9..<10 11..<11: uncommitted", "a.c 20..<21 21..<22: Change twenty",
      ])
    #expect(dirty.untracked(named: ["tool.py", "tool.o"]) == ["new/tool.py"])
    #expect(dirty.text(asItIs: "new/tool.py")?.parts == [.init(before: 1..<1, now: 1..<2)])
    #expect(clean.untracked(named: ["tool.py"]).isEmpty && clean.tracked(named: ["tool.py"]).isEmpty)
    #expect(dirty.tracked(named: ["a.c", "tool.py"]).sorted() == ["a.c", "new/tool.py"])
  }

  @Test("A shallow clone without the commit has no comparison, and neither has a name that is not a commit's")
  func shallow() throws {
    let repository = try TemporaryRepository()
    try repository.write(text(lines), to: "a.c")
    let base = try repository.commit("Begin")
    try repository.write(replacing(1, by: "one"), to: "a.c")
    try repository.commit("Change one")
    let clone = try repository.clone(["--depth", "1"], to: "shallow")
    #expect(compared(with: base, in: clone) == nil)
    for name in ["HEAD", "--output=x", "", String(repeating: "f", count: 40)] {
      #expect(compared(with: name, in: repository.path) == nil)
    }
  }

  @Test("Paths may have spaces, pattern characters and bytes that are not UTF-8; a submodule has its commits")
  func paths() throws {
    let repository = try TemporaryRepository()
    try repository.write("1\n", to: "a [x]*.c")
    // Bytes that are not UTF-8, in a name that a shell makes.
    let odd = "printf '\\377\\303\\251.c'"
    try repository.shell("echo 1 >\"$(\(odd))\"")
    let sub = try TemporaryRepository()
    try sub.write("1\n", to: "x.c")
    let first = try sub.commit("one")
    try repository.git(["submodule", "--quiet", "add", "file://\(sub.path)", "vendor/sub"])
    let base = try repository.commit("Begin")
    try repository.write("2\n", to: "a [x]*.c")
    try repository.shell("echo 2 >\"$(\(odd))\"")
    try sub.write("2\n", to: "x.c")
    let second = try sub.commit("two")
    try repository.git(["-C", "vendor/sub", "pull", "-q"])
    try repository.commit("Change")
    let comparison = try #require(compared(with: base, in: repository.path))
    #expect(comparison.files.count == 3)
    let submodule = try #require(comparison.files.first { $0.submodule != nil }?.submodule)
    #expect(
      submodule == DependencyChange(name: "vendor/sub", before: String(first.prefix(9)), now: String(second.prefix(9))))
    for file in comparison.files where file.submodule == nil {
      #expect(comparison.text(of: file)?.now == ["2"], "\(file.path)")
      let name = String(TrackedFiles.name(of: file.path))
      #expect(comparison.tracked(named: [name]) == [file.path])
    }
  }

  @Test("A deleted file is known as such, and a folder below the top is enough")
  func deleted() throws {
    let repository = try TemporaryRepository()
    try repository.write("1\n", to: "src/a.c")
    try repository.write("1\n", to: "b.c")
    let base = try repository.commit("Begin")
    try repository.git(["rm", "-q", "b.c"])
    try repository.commit("Remove")
    let comparison = try #require(compared(with: base, in: "\(repository.path)/src"))
    #expect(comparison.files.map(\.path) == ["b.c"] && comparison.files[0].isDeleted)
    #expect(comparison.relative("\(repository.path)/src/a.c") == "src/a.c" && comparison.relative("/etc/passwd") == nil)
  }

  @Test("Neither filters, diff drivers, text conversions, hooks nor a file system monitor are run")
  func programs() throws {
    let repository = try TemporaryRepository()
    let mark = "\(repository.path)/.git/ran"
    let script = repository.folder.appending(path: ".git/run.sh")
    try repository.write("#!/bin/sh\necho \"$0\" >>'\(mark)'\ncat\n", to: ".git/run.sh")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
    try repository.write("1\n", to: "a.c")
    let base = try repository.commit("Begin")
    try repository.write("* filter=f diff=d\n", to: ".gitattributes")
    try repository.write("2\n", to: "a.c")
    try repository.commit("Change")
    let command = "'\(script.path)'"
    for key in [
      "filter.f.clean", "filter.f.smudge", "diff.d.command", "diff.d.textconv", "diff.external", "core.fsmonitor",
    ] {
      try repository.git(["config", key, command])
    }
    try repository.git(["config", "filter.f.required", "true"])
    try repository.write("3\n", to: "a.c")
    let comparison = try #require(compared(with: base, in: repository.path, isDirty: true))
    let file = try #require(comparison.files.first { $0.path == "a.c" })
    let text = try #require(comparison.text(of: file))
    #expect(text.now == ["3"])
    #expect(comparison.authors(of: text.parts[0], in: text).isUncommitted)
    #expect(GitQuery.hasUncommittedChanges(in: repository.path) == true)
    #expect(
      !FileManager.default.fileExists(atPath: mark), "\((try? String(contentsOfFile: mark, encoding: .utf8)) ?? "")")
  }
}
