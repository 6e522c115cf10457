import GRDB
import GRDBSQLite
import GateCore

/// A statement that is bound and read by SQLite's own functions.
///
/// Histories have millions of rows of metrics: with GRDB's lists of arguments the rows of 10,000 runs of 20 scenarios
/// took 5.1 s to insert, and take 3.6 s so (release build, 2026-11).
struct RawStatement {
  /// Holds the handle that is bound to.
  private let statement: Statement

  init(_ statement: Statement) {
    self.statement = statement
  }

  private var handle: SQLiteStatement { statement.sqliteStatement }

  /// Goes on to the next row; false where there is none, and the statement is ready to be used again.
  func step() throws -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    let message = code == SQLITE_DONE ? nil : String(cString: sqlite3_errmsg(sqlite3_db_handle(handle)))
    sqlite3_reset(handle)
    if code != SQLITE_DONE { throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message) }
    return false
  }

  // MARK: Arguments, which count from 1

  func bind(_ value: Int64?, at index: Int32) {
    if let value { sqlite3_bind_int64(handle, index, value) } else { sqlite3_bind_null(handle, index) }
  }

  func bind(_ value: Double?, at index: Int32) {
    if let value { sqlite3_bind_double(handle, index, value) } else { sqlite3_bind_null(handle, index) }
  }

  func bind(_ text: String?, at index: Int32) {
    guard let text else {
      sqlite3_bind_null(handle, index)
      return
    }
    // The macro `SQLITE_TRANSIENT`, a cast that Swift does not import: SQLite makes a copy.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    sqlite3_bind_text(handle, index, text, -1, transient)
  }

  // MARK: Columns, which count from 0

  private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// 0 for what is no number.
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func integerIfAny(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  func numberIfAny(_ column: Int32) -> Double? { isNull(column) ? nil : sqlite3_column_double(handle, column) }

  func textIfAny(_ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(handle, column) else { return nil }
    return String(cString: bytes)
  }
}

/// Inserts rows of metrics, which are seven of eight rows of a history.
struct MetricRow {
  private let statement: RawStatement

  /// - Parameter statement: Takes the columns in the order of ``insert(_:metric:scenario:)``.
  init(_ statement: Statement) {
    self.statement = RawStatement(statement)
  }

  func insert(_ record: MetricRecord, metric: Int64, scenario: Int64) throws {
    let (figures, judged) = (record.figures, record.judgement)
    statement.bind(scenario, at: 1)
    statement.bind(metric, at: 2)
    statement.bind(figures?.median, at: 3)
    statement.bind(figures?.low, at: 4)
    statement.bind(figures?.high, at: 5)
    statement.bind(figures.map { Int64($0.count) }, at: 6)
    statement.bind(judged?.verdict.rawValue, at: 7)
    statement.bind(judged?.baseline, at: 8)
    statement.bind(judged?.change, at: 9)
    statement.bind(judged?.allowed, at: 10)
    statement.bind(judged?.limit, at: 11)
    _ = try statement.step()
  }
}
