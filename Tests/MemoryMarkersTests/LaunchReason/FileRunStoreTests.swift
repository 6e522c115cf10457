import Glibc
import LaunchRecords
import Testing

@testable import MemoryMarkers

@Suite("The launch record file")
struct FileRunStoreTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  private func run(_ version: String) -> PriorRun {
    var record = LaunchRecord()
    record.run.appVersion = version
    return PriorRun(record)
  }

  /// Loads the record with a new store; retries because a child of another test inherits the lock until it calls exec.
  ///
  /// A store that found the lock held keeps another file, in which there is no earlier run.
  private func loadWhenUnlocked(_ path: String, _ instance: String) throws -> PriorRun? {
    for _ in 0..<6000 {
      do {
        return try FileRunStore(folder: path, instance: instance).load()
      } catch RunStoreError.heldByAnotherProcess {
        usleep(10_000)
      }
    }
    return try FileRunStore(folder: path, instance: instance).load()
  }

  @Test("A process loads what the previous one saved, and only one at a time can lock the record")
  func loaded() throws {
    let path = folder.path
    do {
      let first = FileRunStore(folder: path, instance: "a")
      #expect(try first.load() == nil)
      try first.save(run("1"), durability: .process)
      try first.save(run("2"), durability: .power)
      #expect(throws: RunStoreError.heldByAnotherProcess) { try FileRunStore(folder: path, instance: "a").load() }
      #expect(try FileRunStore(folder: path, instance: "b").load() == nil)
    }
    #expect(try loadWhenUnlocked(path, "a")?.appVersion == "2")
  }

  @Test("Ended runs are passed on until they are reported, and files that cannot be used are left")
  func ended() throws {
    func write(_ name: String, order: UInt64, version: UInt8 = UInt8(LaunchPage.version)) throws {
      var record = LaunchRecord()
      record.order = order
      var page = LaunchPage.bytes(of: record)
      page[8] = version
      try folder.write(page + [UInt8](repeating: 0, count: LaunchPage.size - page.count), to: name)
    }
    try write("a.launch", order: 2)
    try write("a+1.launch", order: 3)
    try folder.write(String(repeating: "foreign ", count: 1000), to: "a+2.launch")
    try write("a+3.launch", order: 1)
    let store = FileRunStore(folder: folder.path, instance: "a")
    #expect(try store.load()?.record.order == 3)
    func ended(isReported: Bool) -> [UInt64] {
      var orders: [UInt64] = []
      store.clearEnded { record in
        orders.append(record.order)
        return isReported && record.order == 2
      }
      return orders
    }
    #expect(ended(isReported: false) == [3, 2, 1])
    #expect(ended(isReported: true) == [3, 2, 1])
    try store.save(run("1"), durability: .process)
    #expect(ended(isReported: true) == [1])
    // The newest run is one of another version of the library.
    try write("b.launch", order: 1)
    try write("b+1.launch", order: 2, version: 200)
    let other = FileRunStore(folder: folder.path, instance: "b")
    #expect(throws: RunStoreError.unknownVersion(200)) { try other.load() }
    var orders: [UInt64] = []
    other.clearEnded { record in
      orders.append(record.order)
      return true
    }
    #expect(orders == [1])
  }

  @Test("The path is the same for each start, and no name leads out of the folder")
  func path() {
    #expect(FileRunStore(folder: "/x", instance: "api").path == "/x/api.launch")
    #expect(FileRunStore(folder: "/x", instance: "api").path == FileRunStore(folder: "/x", instance: "api").path)
    #expect(FileRunStore(folder: "/x", instance: "../a b/é").path == "/x/.._a_b___.launch")
    #expect(FileRunStore(folder: "/x", instance: "").path == "/x/_.launch")
    #expect(LaunchRecordFile.path(in: "/x", of: "api", number: 2) == "/x/api+2.launch")
    #expect(FileRunStore.default.path == FileRunStore().path)
  }

  @Test(
    "A folder that is not an absolute path is ignored",
    arguments: [
      (["XDG_STATE_HOME": "state", "HOME": "/home/a"], "/home/a/.local/state/highwater/fixture.launch"),
      (["STATE_DIRECTORY": "a", "XDG_STATE_HOME": "/b"], "/b/highwater/fixture.launch"),
      (["STATE_DIRECTORY": "/a:/c", "XDG_STATE_HOME": "/b"], "/a/highwater/fixture.launch"), (["HOME": ""], "none"),
    ] as [([String: String], String)]
  )
  func relativeFolder(variables: [String: String], path: String) throws {
    #expect(try LaunchFixture(variables: variables).start("path").lines() == [path])
  }

  @Test("Only the user can access the folders and the file")
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

  @Test("A file that is not a record is not changed")
  func foreign() throws {
    let foreign = RunStoreError.foreign(path: try folder.write(String(repeating: "long ", count: 2000), to: "a.launch"))
    #expect(throws: foreign) { try FileRunStore(folder: folder.path, instance: "a").load() }
    #expect(throws: foreign) {
      try FileRunStore(folder: folder.path, instance: "a").save(run("1"), durability: .process)
    }
    #expect(folder.bytes(of: "a.launch").count == 10_000)
    symlink(folder.file("a.launch"), folder.file("b.launch"))
    #expect(throws: RunStoreError.system(call: "open", path: folder.file("b.launch"), errno: ELOOP)) {
      try FileRunStore(folder: folder.path, instance: "b").load()
    }
  }

  @Test("A folder that cannot be created is reported once, and the program continues")
  func noFolder() throws {
    let fixture = try LaunchFixture(variables: ["FIXTURE_ERRORS": "stdout"])
    fixture.parent = try fixture.folder.write("a file", to: "file")
    let program = try fixture.start("return", activity: "active")
    let problem = "mkdir \(fixture.folder.file("file/state")): Not a directory"
    #expect(
      program.lines() == [
        "highwater: warning: cannot record this launch: \(problem)",
        "startup=\(StartupReason.unknown(problem))", "previous=none", "failures=0",
      ])
    #expect(program.end() == .exited(0))
  }

  @Test(
    "What ended is reported when a read-only folder is writable again",
    .enabled(if: geteuid() == 0, "only root can mount a file system"))
  func readOnly() throws {
    let fixture = try LaunchFixture()
    fixture.parent = fixture.folder.path
    let disk = fixture.folder.file("state")
    mkdir(disk, 0o700)
    func mount(_ options: String) throws -> Program.End {
      try Program("/bin/mount", ["-t", "tmpfs", "-o", options, "none", disk]).end()
    }
    try #require(try mount("size=64k") == .exited(0))
    defer { _ = try? Program("/bin/umount", [disk]).end() }
    let instances = try (0..<2).map { _ in
      let program = try fixture.start("wait", activity: "active")
      _ = program.lines(upTo: "ready")
      return program
    }
    for program in instances {
      program.send(SIGKILL)
      program.end()
    }
    try #require(try mount("remount,ro") == .exited(0))
    let problem = "open \(disk)/fixture.launch: Read-only file system"
    #expect(try fixture.next() == LaunchFixture.Report(.unknown(problem), nil))
    try #require(try mount("remount,rw") == .exited(0))
    let killed = RunEnd.killed(by: .unknown)
    #expect(try fixture.next() == LaunchFixture.Report(.killedUnknown(.active), killed, ended: [killed]))
  }

  @Test("A full disk is an error of the store", .enabled(if: geteuid() == 0, "only root can mount a file system"))
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
