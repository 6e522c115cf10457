import Foundation
import Testing

@testable import GateApplication

@Suite("Files that a build has left")
struct BuiltFilesTests {
  @Test("A changed, replaced or removed file is found, in any folder but git's own; a new one does not count")
  func changes() throws {
    let folder = try ProjectFolder(files: ["a": "1", "b/c d": "2", ".git/index": "3", "b/.git/index": "4"])
    let read = try #require(BuiltFiles(in: folder.path))
    let files = BuiltFiles(parsing: read.text[...])
    #expect(files == read && files.areUnchanged(in: folder.path))
    try folder.write(".git/index", "9")
    try folder.write("b/new", "new")
    #expect(files.areUnchanged(in: folder.path))
    try folder.write("b/c d", "23")
    #expect(!files.areUnchanged(in: folder.path))
  }

  @Test("New files are removed, except those that git ignores and those of the build")
  func newFiles() throws {
    let repository = try TemporaryRepository()
    try repository.write("*.o\n", to: ".gitignore")
    try repository.commit("one")
    for name in ["built", "built.o"] { try repository.write("1", to: name) }
    let files = try #require(BuiltFiles(in: repository.path))
    for name in ["new é", "f/new", "cache.o"] { try repository.write("2", to: name) }
    #expect(files.removeNewFiles(in: repository.path) && files.removeNewFiles(in: repository.path))
    let left = try FileManager.default.subpathsOfDirectory(atPath: repository.path).filter { !$0.hasPrefix(".git/") }
    #expect(Set(left) == [".git", ".gitignore", "built", "built.o", "cache.o", "f"])
    #expect(!files.removeNewFiles(in: "/nowhere"))
  }

  @Test("A new repository among the files is not removed, and counts")
  func newRepository() throws {
    let repository = try TemporaryRepository()
    try repository.write("1", to: "a")
    try repository.commit("one")
    let files = try #require(BuiltFiles(in: repository.path))
    try repository.git(["init", "--quiet", "inner"])
    try repository.write("2", to: "inner/b")
    #expect(!files.removeNewFiles(in: repository.path))
  }

  @Test("A folder that cannot be read is unknown")
  func missing() throws {
    let folder = try ProjectFolder()
    #expect(BuiltFiles(in: "\(folder.path)/missing") == nil)
  }
}
