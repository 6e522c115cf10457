import Glibc
import LaunchRecords
import Testing

@testable import MemoryMarkers

@Suite("The file of a launch record")
struct FileRunStoreTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  private func run(_ version: String) -> PriorRun {
    var record = LaunchRecord()
    record.surroundings.appVersion = version
    return PriorRun(record)
  }

  /// Loads the record; a program that another test starts has copies of our files until its exec, and so the lock.
  private func loadWhenFree(_ store: FileRunStore) throws -> PriorRun? {
    for _ in 0..<1000 {
      do {
        return try store.load()
      } catch RunStoreError.heldByAnotherProcess {
        usleep(10_000)
      }
    }
    return try store.load()
  }

  @Test("What one process has saved, the next one loads, and only one at a time has it")
  func handedOn() throws {
    let path = folder.path
    do {
      let first = FileRunStore(folder: path, instance: "a")
      #expect(try first.load() == nil)
      try first.save(run("1"), durability: .process)
      try first.save(run("2"), durability: .power)
      #expect(throws: RunStoreError.heldByAnotherProcess) { try FileRunStore(folder: path, instance: "a").load() }
      #expect(try FileRunStore(folder: path, instance: "b").load() == nil)
    }
    #expect(try loadWhenFree(FileRunStore(folder: path, instance: "a")) == run("2"))
  }

  @Test("The path is the same for each start, and no name leaves the folder")
  func path() {
    #expect(FileRunStore(folder: "/x", instance: "api").path == "/x/api.launch")
    #expect(FileRunStore(folder: "/x", instance: "api").path == FileRunStore(folder: "/x", instance: "api").path)
    #expect(FileRunStore(folder: "/x", instance: "../a b/é").path == "/x/.._a_b___.launch")
    #expect(FileRunStore(folder: "/x", instance: "").path == "/x/_.launch")
    #expect(FileRunStore.default.path == FileRunStore().path)
  }

  @Test("Folders are made for their user only, and so is the file")
  func modes() throws {
    let store = FileRunStore(folder: folder.file("state/highwater"), instance: "a")
    _ = try store.load()
    func mode(_ name: String) -> mode_t {
      var status = stat()
      return stat(folder.file(name), &status) == 0 ? status.st_mode & 0o777 : 0
    }
    #expect(mode("state") == 0o700)
    #expect(mode("state/highwater") == 0o700)
    #expect(mode("state/highwater/a.launch") == 0o600)
  }

  @Test("A file that is none of ours is left alone")
  func foreign() throws {
    try folder.write(String(repeating: "long ", count: 2000), to: "a.launch")
    #expect(throws: RunStoreError.corrupt) { try FileRunStore(folder: folder.path, instance: "a").load() }
    #expect(throws: RunStoreError.corrupt) {
      try FileRunStore(folder: folder.path, instance: "a").save(run("1"), durability: .process)
    }
    #expect(folder.bytes(of: "a.launch").count == 10_000)
    symlink(folder.file("a.launch"), folder.file("b.launch"))
    #expect(throws: RunStoreError.system(call: "open", path: folder.file("b.launch"), errno: ELOOP)) {
      try FileRunStore(folder: folder.path, instance: "b").load()
    }
  }

  @Test("A folder that cannot be made costs the program nothing, and is told of once")
  func noFolder() throws {
    let fixture = try LaunchFixture(variables: ["FIXTURE_ERRORS": "stdout"])
    fixture.parent = try fixture.folder.write("a file", to: "file")
    let program = try fixture.start("return", activity: "active")
    let complaint = "mkdir \(fixture.folder.file("file/state")): Not a directory"
    #expect(
      program.lines() == [
        "highwater: why this program starts will not be known: \(complaint)",
        "startup=\(StartupReason.unknown(complaint))", "previous=none", "failures=0",
      ])
    #expect(program.end() == .exited(0))
  }

  @Test("A full disk costs the program nothing", .enabled(if: geteuid() == 0, "file systems are mounted by root only"))
  func diskFull() throws {
    let disk = folder.file("disk")
    mkdir(disk, 0o700)
    let mounted = try Program("/bin/mount", ["-t", "tmpfs", "-o", "size=4k", "none", disk]).end()
    try #require(mounted == .exited(0))
    defer { _ = try? Program("/bin/umount", [disk]).end() }
    try folder.write([UInt8](repeating: 1, count: 4096), to: "disk/full")
    #expect(
      throws: RunStoreError.system(call: "posix_fallocate", path: "\(disk)/a.launch", errno: ENOSPC)
    ) { try FileRunStore(folder: disk, instance: "a").load() }
  }
}
