import FoundationEssentials
import GRDB
import Glibc
import LinuxSystem

/// The SQLite file of a history, which is checked before anything in it is changed.
struct HistoryFile {
  enum State {
    case missing
    /// A history, or an empty file.
    case usable
  }

  let path: String

  /// Checks the file without changing it.
  ///
  /// - Throws: if it is damaged, or belongs to another program or version.
  func state() throws(HistoryError) -> State {
    try refuseLinks()
    let kind = try opening { () throws(ErrorNumber) in try Descriptor.kind(of: path, followingLinks: true) }
    guard let kind else { return .missing }
    guard case .regular(let size) = kind else {
      throw HistoryError(code: .unavailable, path: path, problem: "is not a file", hint: "name a file as `history`")
    }
    if size == 0 { return .usable }
    // SQLite treats a file that is shorter than a page as empty, and would overwrite it.
    if size < 512 { throw unusable(DatabaseError(resultCode: .SQLITE_NOTADB)) }
    try expectLocks(opening: O_RDONLY)
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(SQLiteHistory.lockTimeout)
    do {
      let connection = try withSQLitePath { try SQLiteConnection($0, configuration) }
      try connection.queue.read(identify)
    } catch {
      throw unusable(error)
    }
    return .usable
  }

  /// A damaged history is replaced by the next check, but another file is not.
  private func unusable(_ error: any Error) -> HistoryError {
    let error = HistoryError(error, path: path)
    return error.code == .damaged && !isOwn ? .foreign(path, "is not a history") : error
  }

  /// The names of the file, and of those that SQLite has beside it.
  var names: [String] { ["", "-wal", "-shm", "-journal"].map { name + $0 } }

  /// Rejects a symbolic link at the name of the file, or of one that SQLite has beside it: a branch of the repository may
  /// contain it, and SQLite writes what it leads to.
  private func refuseLinks() throws(HistoryError) {
    for path in names.map({ "\(folder)/\($0)" }) {
      let kind = try opening { () throws(ErrorNumber) in try Descriptor.kind(of: path, followingLinks: false) }
      guard kind == .link else { continue }
      throw HistoryError(
        code: .unavailable, path: path, problem: "is a symbolic link",
        hint: "remove it, or name the file that it leads to as `history`")
    }
  }

  /// Whether the file has the whole history, with nothing in a write-ahead log beside it.
  var isComplete: Bool {
    let log = try? Descriptor.kind(of: path + "-wal", followingLinks: true)
    return log == nil || log == .regular(size: 0)
  }

  /// Copies the history without writing anything beside it, which is safe only while no other process writes it.
  func copy(to copy: SQLiteConnection) throws {
    var configuration = Configuration()
    configuration.readonly = true
    // A URI instead of a path (sqlite.org/uri.html).
    let source = try withSQLitePath { path in
      try SQLiteConnection(URL(filePath: path).absoluteString + "?immutable=1", configuration)
    }
    try source.queue.read(identify)
    try source.queue.backup(to: copy.queue)
  }

  /// Opens the file by a path that is UTF-8, as GRDB needs it: where a folder's name is not, by the folder's descriptor.
  ///
  /// SQLite itself resolves the link that the descriptor is (proc_pid_fd(5)), so it is needed for this call only.
  func withSQLitePath<Value>(_ open: (String) throws -> Value) throws -> Value {
    guard path.hasSystemBytes else { return try open(path) }
    let descriptor = try Descriptor.open(folder, O_RDONLY | O_DIRECTORY)
    defer { withExtendedLifetime(descriptor) {} }
    return try open("/proc/self/fd/\(descriptor.number)/\(name)")
  }

  private var name: String { path.split(separator: "/").last.map(String.init) ?? "" }

  private var folder: String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  private func identify(_ db: Database) throws {
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    if try Int32.fetchOne(db, sql: "PRAGMA application_id") == SQLiteSchema.applicationID {
      if version != SQLiteSchema.version { throw HistoryError.otherVersion(path, version: version) }
      // Reads the first page of each table, which fails if it was truncated or overwritten.
      let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
      for table in tables { _ = try Row.fetchOne(db, sql: "SELECT 1 FROM \(table.quotedDatabaseIdentifier) LIMIT 1") }
      return
    }
    // A process killed before it created the tables leaves an empty database.
    let tables = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema")
    if version != 0 || tables != 0 { throw HistoryError.foreign(path) }
  }

  private func opening<Value>(_ call: () throws(ErrorNumber) -> Value) throws(HistoryError) -> Value {
    do throws(ErrorNumber) {
      return try call()
    } catch {
      throw HistoryError(
        code: .unavailable, path: path, problem: "cannot be opened: \(error.text)",
        hint: [EACCES, EPERM, EROFS].contains(error.code) ? HistoryError.accessHint : nil)
    }
  }

  /// Whether the file is a history, or may become one.
  ///
  /// What seems to be of no use is read again, since one reading may fail and the file be whole.
  ///
  /// - Throws: also if the file cannot be read.
  func isUsable() throws(HistoryError) -> Bool {
    for _ in 1...2 {
      do throws(HistoryError) {
        _ = try state()
        return true
      } catch  where error.isUnusable {
        try expectReadable()
      }
    }
    return false
  }

  /// Reads the whole file, as a program that knows nothing of SQLite does.
  ///
  /// - Throws: the error of the disk, with which nobody knows whether the file is damaged.
  func expectReadable() throws(HistoryError) {
    do throws(ErrorNumber) {
      let file = try Descriptor.open(path, O_RDONLY)
      while !(try file.readChunk(1 << 20)).isEmpty {}
    } catch {
      throw HistoryError(
        code: .unavailable, path: path, problem: "cannot be read: \(error.text)", hint: "check the disk")
    }
  }

  /// Rejects a file system without locks (fcntl_locking(2)), of which SQLite would wait for a minute.
  ///
  /// Call it before this process opens the file with SQLite: closing it would release SQLite's locks.
  func expectLocks(opening flags: Int32 = O_RDWR | O_CREAT) throws(HistoryError) {
    do throws(ErrorNumber) {
      let file = try Descriptor.open(path, flags, mode: 0o644)
      var lock = flock()
      lock.l_type = Int16(F_RDLCK)
      lock.l_whence = Int16(SEEK_SET)
      _ = try retrying { fcntl(file.number, F_GETLK, &lock) }
    } catch let error where [ENOLCK, ENOSYS, EOPNOTSUPP].contains(error.code) {
      throw HistoryError(
        code: .unavailable, path: path, problem: "is on a file system without locks: \(error.text)",
        hint: "name a file on another file system as `history`")
    } catch {
      // SQLite reports it with its own words.
    }
  }

  /// Renames the file and SQLite's files beside it, so that a new history can take its place.
  ///
  /// - Returns: the new name; no existing file is overwritten.
  /// - Throws: also if it is another program's file, which a project file may name.
  func moveAside(at now: Date) throws(HistoryError) -> String {
    guard isOwn else {
      throw HistoryError.foreign(path, "is not a history")
    }
    let stamp = now.formatted(.iso8601).replacing(":", with: "-")
    for attempt in 1...100 {
      let name = "\(path).unusable-\(stamp)" + (attempt == 1 ? "" : "-\(attempt)")
      guard link(path.systemText, name.systemText) == 0 else {
        if errno == EEXIST { continue }
        break
      }
      for suffix in ["-wal", "-shm"] { rename((path + suffix).systemText, (name + suffix).systemText) }
      if unlink(path.systemText) == 0 { return name }
      break
    }
    throw HistoryError(
      code: .unavailable, path: path,
      problem: "is unusable and cannot be renamed: \(ErrorNumber.last.text)",
      hint: "remove it, or name another file as `history`"
    )
  }

  /// Whether it has the name of a history, or the numbers of one (sqlite.org/fileformat.html, section 1.3).
  private var isOwn: Bool {
    if name == "history.sqlite" { return true }
    guard let start = try? Descriptor.open(path, O_RDONLY).readChunk(72), start.count == 72 else { return false }
    let number = start[68...].reduce(Int32(0)) { $0 << 8 | Int32($1) }
    return start.starts(with: "SQLite format 3\0".utf8) && number == SQLiteSchema.applicationID
  }

  /// Prevents other processes from opening, creating or renaming a history in the same folder until `body` returns.
  ///
  /// The lock is the kernel's (`flock(2)` on the folder): it leaves no file, and ends with the process. Without it a
  /// process could rename a file in which another has just created a history.
  func withLock<Value>(_ body: () throws(HistoryError) -> Value) throws(HistoryError) -> Value {
    let descriptor = try opening { () throws(ErrorNumber) in try Descriptor.open(folder, O_RDONLY | O_DIRECTORY) }
    let end = ContinuousClock.now + .seconds(SQLiteHistory.lockTimeout)
    while !(try opening { () throws(ErrorNumber) in try descriptor.tryLockIfSupported() }) {
      guard ContinuousClock.now < end else { throw HistoryError.busy(path) }
      usleep(5000)
    }
    defer { descriptor.unlock() }
    return try body()
  }
}
