import FoundationEssentials
import GateCore
import GateHistory
import Testing

@Suite("The file of a history")
struct HistoryFileTests {
  /// Where the header of a SQLite file keeps two numbers of 4 bytes (sqlite.org/fileformat.html).
  private static let (userVersion, applicationID) = (60, 68)

  /// The bytes of a sound history with one run.
  private static func sound() throws -> [UInt8] {
    let folder = try ScratchFolder()
    try folder.open().add([Given.run(1)])
    return try folder.bytes()
  }

  private static func patched(at offset: Int, to value: UInt8) throws -> [UInt8] {
    var bytes = try sound()
    bytes.replaceSubrange(offset..<offset + 4, with: [0, 0, 0, value])
    return bytes
  }

  /// Files of no use, each with what it is.
  static let useless: [(what: String, bytes: @Sendable () throws -> [UInt8])] = [
    ("a text", { Array(String(repeating: "no database\n", count: 1000).utf8) }),
    ("zero bytes", { [UInt8](repeating: 0, count: 8192) }),
    ("a short text", { Array("x".utf8) }),
    ("another program's database", { try patched(at: applicationID, to: 7) }),
    ("a database that says nothing of its program", { try patched(at: applicationID, to: 0) }),
    ("a cut history", { Array(try sound().prefix(20_000)) }),
    ("a history of which the header is left", { Array(try sound().prefix(4096)) }),
    (
      "a history with overwritten pages",
      {
        var bytes = try sound()
        bytes.replaceSubrange(4096..<bytes.count, with: repeatElement(0xff, count: bytes.count - 4096))
        return bytes
      }
    ),
  ]

  @Test("A file of no use is set aside, byte by byte as it was, and a new history begins", arguments: useless.indices)
  func setAside(index: Int) throws {
    let folder = try ScratchFolder()
    let bytes = try Self.useless[index].bytes()
    try folder.put(bytes)
    #expect(throws: HistoryError.self) { try History.openExisting(folder.file) }
    #expect(try folder.bytes() == bytes, "\(Self.useless[index].what) was changed by being looked at")

    let history = try folder.open()
    let aside = try #require(history.setAside, "\(Self.useless[index].what) was taken for a history")
    #expect(aside == "\(folder.file).set-aside-2026-01-01T00-00-00Z")
    #expect(try [UInt8](Data(contentsOf: URL(filePath: aside))) == bytes)
    try history.add([Given.run(2)])
    #expect(try folder.open().allRuns() == [Given.run(2)])
    #expect(try folder.open().setAside == nil)
  }

  @Test("Two files that are set aside at one instant are both kept")
  func asideTwice() throws {
    let folder = try ScratchFolder()
    for text in ["first", "second"] {
      try folder.put(text.utf8)
      _ = try folder.open()
    }
    #expect(try folder.bytes(of: "history.sqlite.set-aside-2026-01-01T00-00-00Z") == Array("first".utf8))
    #expect(try folder.bytes(of: "history.sqlite.set-aside-2026-01-01T00-00-00Z-2") == Array("second".utf8))
  }

  @Test("A history of a later version is refused and left as it is")
  func newer() throws {
    let folder = try ScratchFolder()
    let bytes = try Self.patched(at: Self.userVersion, to: 99)
    try folder.put(bytes)
    let error = #expect(throws: HistoryError.self) { try folder.open() }
    #expect(error?.code == .newer)
    #expect(error?.problem == "is a history of version 99, and this version of highwater knows 2")
    #expect(try folder.bytes() == bytes)
  }

  @Test("An empty file, as one that was killed while it began leaves it, becomes a history")
  func empty() throws {
    let folder = try ScratchFolder()
    try folder.put([])
    let history = try folder.open()
    #expect(history.setAside == nil)
    try history.add([Given.run(1)])
    #expect(try folder.open().allRuns().count == 1)
  }

  @Test("Where there is no file, looking makes none")
  func missing() throws {
    let folder = try ScratchFolder()
    #expect(try History.openExisting(folder.file) == nil)
    #expect(try folder.names() == [])
  }

  @Test("What cannot be a history's place is told", arguments: ["", "/file/history.sqlite", "/missing/history.sqlite"])
  func unavailable(place: String) throws {
    let folder = try ScratchFolder()
    try Data().write(to: URL(filePath: "\(folder.path)/file"))
    let error = #expect(throws: HistoryError.self) { try History.open(folder.path + place, at: Given.instant(0)) }
    #expect(error?.code == .unavailable)
    #expect(error?.path == folder.path + place)
  }

  /// The stored databases of all versions; `HIGHWATER_UPDATE_GOLDEN=1` writes that of the present version.
  @Test("A database of each version that ever was is read, and added to", arguments: [1, 2])
  func storedVersions(version: Int) throws {
    let name = "history-\(version).sqlite"
    let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)")
    if ProcessInfo.processInfo.environment["HIGHWATER_UPDATE_GOLDEN"] == "1", version == 2 {
      let source = try ScratchFolder()
      try source.open().add([Given.richRun, Given.run(2)])
      try Data(source.bytes()).write(to: golden)
    }
    let folder = try ScratchFolder()
    try folder.put([UInt8](try Data(contentsOf: golden)))
    let history = try folder.open()
    #expect(history.setAside == nil)
    #expect(try history.allRuns() == [version == 1 ? Given.richRunOfVersion1 : Given.richRun, Given.run(2)])
    try history.add([Given.run(3)])
    #expect(try history.allRuns().count == 3)
  }
}
