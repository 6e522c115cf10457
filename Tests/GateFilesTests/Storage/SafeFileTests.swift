import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateFiles

@Suite("Reading and writing files safely")
struct SafeFileTests {
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
  }

  private func file(_ name: String) -> String { "\(scratch.path)/\(name)" }

  // MARK: Reading

  @Test("A file is read whole up to the bound, and refused one byte beyond")
  func bound() throws {
    let path = try scratch.put("12345", at: "five")
    #expect(try SafeFile.read(path, atMost: 5) == Array("12345".utf8))
    let error = try #require(throws: FileError.self) { try SafeFile.read(path, atMost: 4) }
    #expect(
      error.diagnostics.map(\.description) == [
        "\(path): error: is larger than 4 bytes, the limit for this file\n  hint: check that this is the file you mean"
      ]
    )
    #expect(error.code == .tooLarge)
  }

  @Test("A file whose size is not told beforehand is read and bounded too")
  func unsized() throws {
    #expect(try SafeFile.read("/proc/self/stat", atMost: 65_536).count > 50)
    #expect(throws: FileError.self) { try SafeFile.read("/proc/self/stat", atMost: 10) }
  }

  @Test("A large file is read whole")
  func large() throws {
    let bytes = (0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try SafeFile.write(bytes, to: file("large"))
    #expect(try SafeFile.read(file("large"), atMost: 1 << 30) == bytes)
  }

  @Test(
    "What is not a regular file is refused at once",
    .timeLimit(.minutes(5)),
    arguments: ["fifo", "folder", "/dev/zero", "/dev/tty", "link to fifo"]
  )
  func notRegular(name: String) throws {
    try #require(mkfifo(file("fifo"), 0o600) == 0 && mkdir(file("folder"), 0o700) == 0)
    try #require(symlink(file("fifo"), file("link to fifo")) == 0)
    let path = name.hasPrefix("/") ? name : file(name)
    let error = try #require(throws: FileError.self) { try SafeFile.read(path, atMost: 100) }
    #expect(error.code == .notAFile)
    #expect(error.problem == (name == "folder" ? "is a folder, not a file" : "is not a regular file"))
  }

  @Test(
    "A path that leads nowhere is told apart from a file that cannot be read",
    arguments: [
      ("missing", "no such file"), ("five/x", "no such file: a part of the path is not a folder"),
      ("", "the path is empty"), ("five\0.json", "the path contains a zero byte"),
    ]
  )
  func missing(name: String, problem: String) throws {
    _ = try scratch.put("12345", at: "five")
    let path = name.isEmpty ? "" : file(name)
    let error = try #require(throws: FileError.self) { try SafeFile.read(path, atMost: 100) }
    #expect(error.code == .notFound && error.problem == problem)
  }

  // MARK: Writing

  @Test("A file is made with its folders, and replaced whole")
  func write() throws {
    try SafeFile.write(Array("first, the longer one".utf8), to: file("a/b/c.json"))
    try SafeFile.write(Array("second".utf8), to: file("a/b/c.json"))
    #expect(try scratch.text(of: "a/b/c.json") == "second")
    #expect(try scratch.names(in: "a/b") == ["c.json"])
  }

  @Test("A new file may be read by all, whatever mode the old one had")
  func mode() throws {
    let path = try scratch.put("old", at: "a.json")
    try #require(chmod(path, 0o600) == 0)
    try SafeFile.write([1], to: path)
    var facts = stat()
    try #require(stat(path, &facts) == 0)
    let mask = umask(0o22)
    umask(mask)
    #expect(facts.st_mode & 0o777 == 0o644 & ~mask)
  }

  @Test("A symbolic link is replaced, and what it leads to is left alone")
  func link() throws {
    let precious = try scratch.put("precious", at: "precious")
    try #require(symlink(precious, file("result.json")) == 0)
    try SafeFile.write(Array("new".utf8), to: file("result.json"))
    #expect(try scratch.text(of: "precious") == "precious")
    #expect(try scratch.text(of: "result.json") == "new")
  }

  @Test("A link to nowhere and a link to itself are replaced too", arguments: ["nowhere", "result.json"])
  func brokenLink(target: String) throws {
    try #require(symlink(file(target), file("result.json")) == 0)
    try SafeFile.write(Array("new".utf8), to: file("result.json"))
    #expect(try scratch.names() == ["result.json"])
  }

  @Test("A folder, a pipe or a device is never replaced by a file", arguments: ["folder", "fifo", "link to null"])
  func special(name: String) throws {
    try #require(mkfifo(file("fifo"), 0o600) == 0 && mkdir(file("folder"), 0o700) == 0)
    try #require(symlink("/dev/null", file("link to null")) == 0)
    let before = try scratch.names()
    let error = try #require(throws: FileError.self) { try SafeFile.write([1], to: file(name)) }
    #expect(error.code == .notAFile)
    #expect(try scratch.names() == before)
  }

  @Test("A file in the place of a folder is named as what is in the way")
  func fileInTheWay() throws {
    let path = try scratch.put("", at: "baselines")
    let error = try #require(throws: FileError.self) { try SafeFile.write([1], to: "\(path)/load/ci.json") }
    #expect(error.code == .notWritable)
    #expect(
      error.diagnostics[0].description.hasSuffix(
        "error: cannot be written: a part of the path is not a folder\n"
          + "  hint: move the file that is in its place, or choose another path"
      )
    )
  }

  @Test("A file system that takes no files makes a clear error", arguments: ["/proc/highwater/x.json", "/proc/x.json"])
  func notWritable(path: String) throws {
    let error = try #require(throws: FileError.self) { try SafeFile.write([1], to: path) }
    #expect(error.code == .notWritable && error.hint == "choose a folder that this user may write to")
  }

  @Test("A name that is too long for the file system makes a clear error, and leaves nothing")
  func tooLongName() throws {
    let path = file(String(repeating: "x", count: 300))
    let error = try #require(throws: FileError.self) { try SafeFile.write([1], to: path) }
    #expect(error.code == .notWritable && error.problem == "cannot be written: file name too long")
    #expect(try scratch.names() == [])
  }

  @Test("A full disk makes a clear error and leaves the old file whole", .mayMount)
  func fullDisk() throws {
    let disk = try SmallDisk(at: file("disk"))
    try SafeFile.write(Array("old".utf8), to: "\(disk.path)/b.json")
    let large = [UInt8](repeating: 1, count: 1 << 20)
    let error = try #require(throws: FileError.self) { try SafeFile.write(large, to: "\(disk.path)/b.json") }
    #expect(
      error.diagnostics.map(\.description) == [
        """
        \(disk.path)/b.json: error: cannot be written: no space left on device
          hint: free some space, or choose a folder on another disk
        """
      ]
    )
    #expect(error.code == .noSpace)
    #expect(try scratch.text(of: "disk/b.json") == "old")
    #expect(try scratch.names(in: "disk") == ["b.json"])
  }

  @Test("A disk that is mounted read-only makes a clear error", .mayMount)
  func readOnlyDisk() throws {
    let disk = try SmallDisk(at: file("disk"))
    try disk.makeReadOnly()
    let error = try #require(throws: FileError.self) { try SafeFile.write([1], to: "\(disk.path)/new/b.json") }
    #expect(error.code == .notWritable && error.problem == "cannot be written: read-only file system")
  }

  @Test("A process that is killed while it writes leaves the one file or the other, whole", .timeLimit(.minutes(3)))
  func killed() async throws {
    let path = file("b.json")
    try SafeFile.write([UInt8](repeating: 1, count: 4 << 20), to: path)
    for microseconds in stride(from: 500 as UInt32, to: 40_000, by: 2700) {
      await #expect(processExitsWith: .signal(SIGALRM)) {
        [path = path as String, microseconds = microseconds as UInt32] in
        let (first, second) = ([UInt8](repeating: 1, count: 4 << 20), [UInt8](repeating: 2, count: 4 << 20))
        // Nobody handles the alarm, so that it ends the process in the middle of whatever it does.
        ualarm(microseconds, 0)
        while true {
          try SafeFile.write(second, to: path)
          try SafeFile.write(first, to: path)
        }
      }
      let found = try SafeFile.read(path, atMost: 8 << 20)
      #expect(found.count == 4 << 20 && Set(found).count == 1, "\(found.count) bytes")
    }
  }

  @Test(
    "The folder of a path is what stands before its last name",
    arguments: [("a/b", "a"), ("a", "."), ("/a", "/"), ("/", "/"), ("a//b//", "a"), ("/a/b/c", "/a/b"), ("..", ".")]
  )
  func folder(path: String, folder: String) {
    #expect(SafeFile.folder(of: path) == folder)
  }
}

extension Trait where Self == ConditionTrait {
  /// Runs a test where this process may mount a small disk.
  static var mayMount: Self { .enabled(if: SmallDisk.isAllowed, "needs the right to mount") }
}

/// A disk of 64 KiB in memory, mounted on a folder while the value lives.
final class SmallDisk: Sendable {
  let path: String

  /// Whether this process may mount (`mount(2)`).
  static let isAllowed: Bool = {
    guard let scratch = try? ScratchFolder() else { return false }
    return (try? SmallDisk(at: "\(scratch.path)/disk")) != nil
  }()

  struct NotMounted: Error {
    let code: Int32
  }

  init(at path: String) throws {
    self.path = path
    mkdir(path, 0o700)
    guard mount("none", path, "tmpfs", 0, "size=64k") == 0 else { throw NotMounted(code: errno) }
  }

  func makeReadOnly() throws {
    guard mount("none", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
      throw NotMounted(code: errno)
    }
  }

  deinit {
    umount2(path, Int32(MNT_DETACH))
  }
}
