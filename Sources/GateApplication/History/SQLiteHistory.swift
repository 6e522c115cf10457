import FoundationEssentials
import GRDB
import GateCore

/// The runs in a SQLite file, with a write-ahead log and `synchronous = FULL`.
struct SQLiteHistory: HistoryStore {
  private let connection: SQLiteConnection
  private var queue: DatabaseQueue { connection.queue }

  /// How long a process waits for others, in seconds; a large import releases the file after each batch.
  static let lockTimeout = 60.0

  init(path: String) throws(HistoryError) {
    var configuration = Configuration()
    configuration.journalMode = .wal
    configuration.busyMode = .timeout(Self.lockTimeout)
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA synchronous = FULL")
    }
    do {
      connection = try HistoryFile(path: path).withSQLitePath { try SQLiteConnection($0, configuration) }
      try SQLiteSchema.create(in: connection.queue)
    } catch {
      throw HistoryError(error, path: path)
    }
  }

  init(copyOf file: HistoryFile) throws(HistoryError) {
    do {
      connection = try SQLiteConnection(":memory:")
      try file.copy(to: connection)
    } catch {
      throw HistoryError(error, path: file.path)
    }
  }

  func reading<Value>(_ body: (any HistoryReader) throws -> Value) throws -> Value {
    try queue.read { try body(SQLiteReader(db: $0)) }
  }

  func append(_ runs: [RunSummary]) throws -> History.Additions {
    try writing { db in
      var writer = try SQLiteWriter(db)
      var reader = try SQLiteRunReader(db)
      var additions = History.Additions()
      for run in runs {
        guard let known = try reader.run(withIdentifier: run.run.id) else {
          try writer.insert(run)
          additions.added += 1
          continue
        }
        let stored = try reader.summary(of: known)
        guard additions.addKnown(run, stored: stored) else { continue }
        try writer.replace(stored, by: run)
        reader = try SQLiteRunReader(db)
      }
      return additions
    }
  }

  /// Also shrinks the file.
  func prune(keeping retention: History.Retention) throws -> Int {
    let removed = try writing { db in
      switch retention {
      case .latest(let count):
        try db.execute(
          sql: """
            DELETE FROM run WHERE id NOT IN (SELECT id FROM run ORDER BY started_at DESC, identifier DESC LIMIT ?)
            """,
          arguments: [max(0, count)])
      case .since(let date):
        try db.execute(sql: "DELETE FROM run WHERE started_at < ?", arguments: [date.inMilliseconds])
      }
      let removed = db.changesCount
      if removed > 0 { try SQLiteWriter.deleteUnusedRows(from: db) }
      return removed
    }
    // The file cannot shrink while another process uses it; the next pruning shrinks it.
    if removed > 0 { try? queue.vacuum() }
    return removed
  }

  private func writing<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try queue.writeWithoutTransaction { db in
      var value: Value?
      try db.inTransaction(.immediate) {
        value = try body(db)
        return .commit
      }
      guard let value else { preconditionFailure("the transaction has ended without an error, so its body has") }
      return value
    }
  }
}

// MARK: - Opening

extension History {
  /// Opens a history for writing; creates one if there is none, or only an unusable one.
  ///
  /// A damaged file is renamed (``unusableFile``) and never changed. The folder must exist.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - now: The time stamp in the name of a file that is renamed.
  /// - Returns: the open history.
  /// - Throws: also if the file is a history of another version, or neither a history nor named `history.sqlite`; it is left
  ///   unchanged.
  static func open(_ path: String, at now: Date) throws(HistoryError) -> History {
    let file = HistoryFile(path: path)
    return try file.withLock { () throws(HistoryError) in
      var unusable: String?
      if try !file.isUsable() { unusable = try file.moveAside(at: now) }
      try file.expectLocks()
      return History(try SQLiteHistory(path: path), path: path, unusableFile: unusable)
    }
  }

  /// Opens an existing history; nil if there is none.
  ///
  /// An unusable file is left unchanged.
  static func openExisting(_ path: String) throws(HistoryError) -> History? {
    let file = HistoryFile(path: path)
    guard try file.state() == .usable else { return nil }
    return try file.withLock { () throws(HistoryError) in
      History(try SQLiteHistory(path: path), path: path)
    }
  }

  /// Opens an existing history for reading only; nil if there is none.
  ///
  /// A file that cannot be written, such as an artifact on a read-only file system, is copied into memory: in WAL mode
  /// SQLite writes beside the file even to read it.
  static func openToRead(_ path: String) throws(HistoryError) -> History? {
    let file = HistoryFile(path: path)
    do throws(HistoryError) {
      return try openExisting(path)
    } catch  where error.code == .notWritable && file.isComplete {
      return History(try SQLiteHistory(copyOf: file), path: path)
    }
  }

  /// Opens the file once more, in which something seems to be damaged, to ask again.
  ///
  /// - Throws: also if the file cannot be read.
  func reopened() throws(HistoryError) -> History {
    close()
    try HistoryFile(path: path).expectReadable()
    return History(try SQLiteHistory(path: path), path: path, unusableFile: unusableFile)
  }

  /// Renames the file, which turned out to be damaged at two readings, and creates a new one.
  ///
  /// This value must not be used any more: SQLite would associate the files beside the new database with the old one.
  func replacingDamagedFile(at now: Date) throws(HistoryError) -> History {
    close()
    let file = HistoryFile(path: path)
    return try file.withLock { () throws(HistoryError) in
      try file.expectReadable()
      let unusable = try file.moveAside(at: now)
      return History(try SQLiteHistory(path: path), path: path, unusableFile: unusable)
    }
  }
}

extension SQLiteHistory {
  func close() { connection.close() }
}
