import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateApplication

@Suite("Reading and writing files safely")
struct SafeFileTests {
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
  }

  private func file(_ name: String) -> String { "\(scratch.path)/\(name)" }

  // MARK: Reading

  @Test("A file up to the size limit is read whole; one byte more is an error")
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

  @Test("A file of unknown size is read, with the same limit")
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
    "A file that is not regular is rejected without blocking",
    .timeLimit(.minutes(60)),
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
    "A missing path and an unreadable file are distinct errors",
    arguments: [
      ("missing", "no such file"), ("five/x", "no such file: a part of the path is not a folder"),
      ("", "the path is empty"), ("five\0.json", "the path contains a NUL byte"),
    ]
  )
  func missing(name: String, problem: String) throws {
    _ = try scratch.put("12345", at: "five")
    let path = name.isEmpty ? "" : file(name)
    let error = try #require(throws: FileError.self) { try SafeFile.read(path, atMost: 100) }
    #expect(error.code == .notFound && error.problem == problem)
  }

  // MARK: Writing

  @Test("A file is created with its folders, and replaced atomically")
  func write() throws {
    try SafeFile.write(Array("first, the longer one".utf8), to: file("a/b/c.json"))
    try SafeFile.write(Array("second".utf8), to: file("a/b/c.json"))
    #expect(try scratch.text(of: "a/b/c.json") == "second")
    #expect(try scratch.names(in: "a/b") == ["c.json"])
  }

  @Test("A new file is readable by all, whatever the old file's mode")
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

  @Test("A symbolic link is replaced; its target is left alone")
  func link() throws {
    let precious = try scratch.put("precious", at: "precious")
    try #require(symlink(precious, file("result.json")) == 0)
    try SafeFile.write(Array("new".utf8), to: file("result.json"))
    #expect(try scratch.text(of: "precious") == "precious")
    #expect(try scratch.text(of: "result.json") == "new")
  }

  @Test("A dangling or circular link is replaced too", arguments: ["nowhere", "result.json"])
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

  @Test("A file at the path of a folder is named in the error")
  func fileInTheWay() throws {
    let path = try scratch.put("", at: "baselines")
    let error = try #require(throws: FileError.self) { try SafeFile.write([1], to: "\(path)/load/ci.json") }
    #expect(error.code == .notWritable)
    #expect(
      error.diagnostics[0].description.hasSuffix(
        "error: cannot be written: a part of the path is not a folder\n"
          + "  hint: move the file at this path, or choose another path"
      )
    )
  }

  @Test("A file system that takes no files gives a clear error", arguments: ["/proc/highwater/x.json", "/proc/x.json"])
  func notWritable(path: String) throws {
    let error = try #require(throws: FileError.self) { try SafeFile.write([1], to: path) }
    #expect(error.code == .notWritable && error.hint == "choose a folder that this user may write to")
  }

  @Test("A file name that is too long gives a clear error, and leaves no file")
  func tooLongName() throws {
    let path = file(String(repeating: "x", count: 300))
    let error = try #require(throws: FileError.self) { try SafeFile.write([1], to: path) }
    #expect(error.code == .notWritable && error.problem == "cannot be written: file name too long")
    #expect(try scratch.names() == [])
  }

  @Test("A full disk gives a clear error and leaves the old file intact", .mayMount)
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

  @Test("A read-only file system gives a clear error", .mayMount)
  func readOnlyDisk() throws {
    let disk = try SmallDisk(at: file("disk"))
    try disk.makeReadOnly()
    let error = try #require(throws: FileError.self) { try SafeFile.write([1], to: "\(disk.path)/new/b.json") }
    #expect(error.code == .notWritable && error.problem == "cannot be written: read-only file system")
  }

  @Test("A process killed while it writes leaves the old or the new file, intact", .timeLimit(.minutes(60)))
  func killed() async throws {
    let path = file("b.json")
    let contents = [1, 2].map { [UInt8](repeating: $0, count: 4 << 20) }
    try SafeFile.write(contents[0], to: path)
    for microseconds in stride(from: 500 as UInt32, to: 40_000, by: 2700) {
      await #expect(processExitsWith: .signal(SIGALRM)) {
        [path = path as String, microseconds = microseconds as UInt32] in
        let (first, second) = ([UInt8](repeating: 1, count: 4 << 20), [UInt8](repeating: 2, count: 4 << 20))
        // SIGALRM has no handler, so it kills the process at an arbitrary moment.
        ualarm(microseconds, 0)
        while true {
          try SafeFile.write(second, to: path)
          try SafeFile.write(first, to: path)
        }
      }
      let found = try SafeFile.read(path, atMost: 8 << 20)
      #expect(contents.contains(found), "\(found.count) bytes")
    }
  }

  @Test(
    "The folder of a path is everything before its last component",
    arguments: [("a/b", "a"), ("a", "."), ("/a", "/"), ("/", "/"), ("a//b//", "a"), ("/a/b/c", "/a/b"), ("..", ".")]
  )
  func folder(path: String, folder: String) {
    #expect(SafeFile.folder(of: path) == folder)
  }
}

extension Trait where Self == ConditionTrait {
  /// Runs a test only if this process may mount a file system.
  static var mayMount: Self { .enabled(if: SmallDisk.isAllowed, "needs permission to mount") }
}

/// A 64 KiB tmpfs, unmounted on `deinit`.
final class SmallDisk: Sendable {
  let path: String

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
