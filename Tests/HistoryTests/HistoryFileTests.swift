import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("History files")
struct HistoryFileTests {
  /// The offsets of two 4-byte numbers in the header of a SQLite file (sqlite.org/fileformat.html).
  private static let (userVersion, applicationID) = (60, 68)

  /// The bytes of an intact history with one run.
  private static func intact() throws -> [UInt8] {
    let folder = try ScratchFolder()
    try folder.open().append([Given.run(1)])
    return try folder.bytes()
  }

  private static func patched(at offset: Int, to value: UInt8) throws -> [UInt8] {
    var bytes = try intact()
    bytes.replaceSubrange(offset..<offset + 4, with: [0, 0, 0, value])
    return bytes
  }

  /// Unusable files, each with a description.
  static let unusable: [(what: String, bytes: @Sendable () throws -> [UInt8])] = [
    ("a text", { Array(String(repeating: "no database\n", count: 1000).utf8) }),
    ("zero bytes", { [UInt8](repeating: 0, count: 8192) }),
    ("a short text", { Array("x".utf8) }),
    ("another program's database", { try patched(at: applicationID, to: 7) }),
    ("a database without a program's number", { try patched(at: applicationID, to: 0) }),
    ("a truncated history", { Array(try intact().prefix(20_000)) }),
    ("a history with only its header", { Array(try intact().prefix(4096)) }),
    (
      "a history with overwritten pages",
      {
        var bytes = try intact()
        bytes.replaceSubrange(4096..<bytes.count, with: repeatElement(0xff, count: bytes.count - 4096))
        return bytes
      }
    ),
  ]

  @Test("A file that is no history is neither renamed nor changed, unless it has the name of one", arguments: 0...3)
  func othersFile(index: Int) throws {
    let folder = try ScratchFolder()
    let path = "\(folder.path)/notes.txt"
    let bytes = try Self.unusable[index].bytes()
    try Data(bytes).write(to: URL(filePath: path))
    let error = #expect(throws: HistoryError.self) { try History.open(path, at: Given.instant(0)) }
    #expect(error?.problem == "is not a history")
    #expect(try folder.names() == ["notes.txt"] && folder.bytes(of: "notes.txt") == bytes)
  }

  @Test("An unusable file is renamed unchanged, and a new history is created", arguments: unusable.indices)
  func unusableFile(index: Int) throws {
    let folder = try ScratchFolder()
    let bytes = try Self.unusable[index].bytes()
    try folder.put(bytes)
    #expect(throws: HistoryError.self) { try History.openExisting(folder.file) }
    #expect(try folder.bytes() == bytes, "\(Self.unusable[index].what) was changed by opening it")

    let history = try folder.open()
    let renamed = try #require(history.unusableFile, "\(Self.unusable[index].what) was taken for a history")
    #expect(renamed == "\(folder.file).unusable-2026-01-01T00-00-00Z")
    #expect(try [UInt8](Data(contentsOf: URL(filePath: renamed))) == bytes)
    try history.append([Given.run(2)])
    #expect(try folder.open().allRuns() == [Given.run(2)])
    #expect(try folder.open().unusableFile == nil)
  }

  @Test("An error on access says what to do")
  func noAccess() throws {
    let folder = try ScratchFolder()
    try folder.put(Self.intact())
    // The superuser of the tests may write anything, but not a folder.
    try FileManager.default.createDirectory(atPath: folder.file + "-wal", withIntermediateDirectories: false)
    let error = #expect(throws: HistoryError.self) { try History.openExisting(folder.file) }
    #expect(error?.code == .notWritable && error?.hint == HistoryError.accessHint, "\(error.debugDescription)")
  }

  @Test("Two files renamed in the same second get different names")
  func renamedTwice() throws {
    let folder = try ScratchFolder()
    for text in ["first", "second"] {
      try folder.put(text.utf8)
      _ = try folder.open()
    }
    #expect(try folder.bytes(of: "history.sqlite.unusable-2026-01-01T00-00-00Z") == Array("first".utf8))
    #expect(try folder.bytes(of: "history.sqlite.unusable-2026-01-01T00-00-00Z-2") == Array("second".utf8))
  }

  @Test("A history of another version is rejected and left unchanged", arguments: [4, 99] as [UInt8])
  func otherVersion(version: UInt8) throws {
    let folder = try ScratchFolder()
    let bytes = try Self.patched(at: Self.userVersion, to: version)
    try folder.put(bytes)
    let error = #expect(throws: HistoryError.self) { try folder.open() }
    #expect(error?.code == .otherVersion)
    #expect(error?.problem == "is a history of version \(version); this highwater reads version 5")
    #expect(try folder.bytes() == bytes)
  }

  @Test("An empty file, left by a killed process, becomes a history")
  func empty() throws {
    let folder = try ScratchFolder()
    try folder.put([])
    let history = try folder.open()
    #expect(history.unusableFile == nil)
    try history.append([Given.run(1)])
    #expect(try folder.open().allRuns().count == 1)
  }

  @Test("Looking for a missing file does not create it")
  func missing() throws {
    let folder = try ScratchFolder()
    #expect(try History.openExisting(folder.file) == nil)
    #expect(try folder.names() == [])
  }

  @Test("An impossible path is an error", arguments: ["", "/file/history.sqlite", "/missing/history.sqlite"])
  func unavailable(place: String) throws {
    let folder = try ScratchFolder()
    try Data().write(to: URL(filePath: "\(folder.path)/file"))
    let error = #expect(throws: HistoryError.self) { try History.open(folder.path + place, at: Given.instant(0)) }
    #expect(error?.code == .unavailable)
    #expect(error?.path == folder.path + place)
  }
}
