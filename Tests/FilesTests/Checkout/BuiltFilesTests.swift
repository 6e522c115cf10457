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

  @Test("A folder that cannot be read is unknown")
  func missing() throws {
    let folder = try ProjectFolder()
    #expect(BuiltFiles(in: "\(folder.path)/missing") == nil)
  }
}
