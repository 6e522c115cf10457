import FoundationEssentials
import GRDB
import Glibc

/// The file that a history is in: what it is, before anything is changed in it.
struct HistoryFile {
  enum State {
    case missing
    /// A history, or a file in which one may be begun.
    case usable
  }

  let path: String

  /// Looks at the file without changing it.
  ///
  /// - Throws: where it is damaged, another program's, or of a later version.
  func state() throws(HistoryError) -> State {
    var facts = stat()
    guard stat(path, &facts) == 0 else {
      if errno == ENOENT { return .missing }
      throw notOpened
    }
    guard facts.st_mode & S_IFMT == S_IFREG else {
      throw HistoryError(code: .unavailable, path: path, problem: "is not a file", hint: "name a file as `history`")
    }
    if facts.st_size == 0 { return .usable }
    // SQLite takes a file that is shorter than any page for an empty one, and would overwrite it.
    if facts.st_size < 512 { throw HistoryError(DatabaseError(resultCode: .SQLITE_NOTADB), path: path) }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(History.patience)
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { try? queue.close() }
      try queue.read(identify)
    } catch {
      throw HistoryError(error, path: path)
    }
    return .usable
  }

  /// Whether all of the history is in the file itself, and nothing in a log beside it.
  var isComplete: Bool {
    var facts = stat()
    return stat(path + "-wal", &facts) != 0 || facts.st_size == 0
  }

  /// Copies the history without writing anything beside it, which is sound only while nobody else writes it.
  func copy(to copy: DatabaseQueue) throws {
    var configuration = Configuration()
    configuration.readonly = true
    // An address instead of a path (sqlite.org/uri.html).
    let address = URL(filePath: path).absoluteString + "?immutable=1"
    let source = try DatabaseQueue(path: address, configuration: configuration)
    try source.read(identify)
    try source.backup(to: copy)
  }

  private func identify(_ db: Database) throws {
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    if try Int32.fetchOne(db, sql: "PRAGMA application_id") == HistorySchema.applicationID {
      if version > HistorySchema.version { throw HistoryError.newer(path, version: version) }
      // Reads the root page of every table and index, so that a file that was cut or overwritten shows.
      let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
      for table in tables { _ = try Row.fetchOne(db, sql: "SELECT 1 FROM \(table.quotedDatabaseIdentifier) LIMIT 1") }
      return
    }
    // A process that was killed before its first migration leaves a database without tables of ours.
    let others = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema WHERE tbl_name <> 'grdb_migrations'")
    if version != 0 || others != 0 { throw HistoryError.foreign(path) }
  }

  private var notOpened: HistoryError {
    HistoryError(code: .unavailable, path: path, problem: "cannot be opened: \(String(cString: strerror(errno)))")
  }

  /// Gives the file and what SQLite keeps beside it another name, so that a new one can be begun.
  ///
  /// - Returns: the new name; nothing that has it already is overwritten.
  func setAside(at now: Date) throws(HistoryError) -> String {
    let stamp = now.formatted(.iso8601).replacing(":", with: "-")
    for attempt in 1...100 {
      let aside = "\(path).set-aside-\(stamp)" + (attempt == 1 ? "" : "-\(attempt)")
      guard link(path, aside) == 0 else {
        if errno == EEXIST { continue }
        break
      }
      for suffix in ["-wal", "-shm"] { rename(path + suffix, aside + suffix) }
      if unlink(path) == 0 { return aside }
      break
    }
    throw HistoryError(
      code: .unavailable, path: path,
      problem: "is of no use and cannot be set aside: \(String(cString: strerror(errno)))",
      hint: "remove it, or name another file as `history`"
    )
  }

  /// Keeps other processes from opening, beginning or setting aside a history of the same folder until `body` is done.
  ///
  /// The lock is the kernel's (`flock(2)` on the folder): it leaves no file, and ends with the process. Without it two
  /// processes that begin a file at the same instant would both migrate it.
  func alone<Value>(_ body: () throws(HistoryError) -> Value) throws(HistoryError) -> Value {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw notOpened
    }
    defer { close(descriptor) }
    let end = ContinuousClock.now + .seconds(History.patience)
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else {
        throw HistoryError(code: .busy, path: path, problem: "is in use by another process, which did not let go of it")
      }
      usleep(5000)
    }
    return try body()
  }
}
