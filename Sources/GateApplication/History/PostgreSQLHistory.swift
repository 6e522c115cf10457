import FoundationEssentials
import GateCore
import Glibc
import Synchronization

/// The runs of one project in a PostgreSQL database.
///
/// Each transaction sets what it needs by itself, and no statement is prepared, so that a pooler may pass the
/// transactions to different servers.
final class PostgreSQLHistory: HistoryStore, @unchecked Sendable {
  private let address: DatabaseAddress
  private let project: (id: Int64, name: String)
  private let lock = Mutex(())
  // Used under the lock only.
  private var connection: PostgreSQLConnection
  private var knownYears: Set<Int> = []

  /// How long a writer tries again after the server has closed a connection.
  private static let reconnectionTime = Duration.seconds(5)

  private init(_ address: DatabaseAddress, project: String, _ connection: PostgreSQLConnection) {
    (self.address, self.connection) = (address, connection)
    self.project = (StoredHash.id(of: project), project)
  }

  // MARK: Opening

  enum Purpose {
    case reading, changing
    /// Creates the tables if there are none.
    case adding
  }

  /// Connects to a database; nil if it has no history, or none of this project.
  static func open(
    _ address: DatabaseAddress, project: String, for purpose: Purpose, _ time: WaitingTime
  ) throws(HistoryError) -> PostgreSQLHistory? {
    if let name = address.unsetVariables.first {
      throw HistoryError(
        code: .unavailable, path: address.shown, problem: "the environment variable `\(name)` is not set, or is empty",
        hint: "set it where \(Tool.name) runs, or use `--history off`")
    }
    return try converting(address) {
      let history = PostgreSQLHistory(address, project: project, try .open(address.url.exposed, time))
      return try history.prepare(for: purpose) ? history : nil
    }
  }

  /// Checks the version of the tables, and creates them if they are missing; returns whether the project has runs, or
  /// may get some.
  private func prepare(for purpose: Purpose) throws -> Bool {
    guard let known = try version() else {
      guard purpose == .adding else { return false }
      try transaction(.writing) { connection in try Self.createTables(connection) }
      return true
    }
    guard known.version == PostgreSQLSchema.version else {
      throw HistoryError.otherVersion(address.shown, version: known.version, known: PostgreSQLSchema.version)
    }
    return known.hasProject || purpose == .adding
  }

  /// The version of the tables; nil without tables.
  private func version() throws -> (version: Int, hasProject: Bool)? {
    do {
      return try transaction(.reading) { connection in
        try connection.run(
          """
          SELECT version, (SELECT count(*) FROM highwater.project WHERE id = \(project.id)) FROM highwater.version
          """
        ).map { (Int($0.integer(0)), $0.integer(1) > 0) }.first
      }
    } catch let error as PostgreSQLError where error.isMissingTable {
      return nil
    }
  }

  /// Creates the tables, unless another process has created them in the meantime.
  private static func createTables(_ connection: PostgreSQLConnection) throws {
    try connection.run("SELECT pg_advisory_xact_lock(\(PostgreSQLSchema.lock))")
    let known = try connection.run(
      "SELECT (to_regnamespace('highwater') IS NOT NULL)::integer, (to_regclass('highwater.version') IS NOT NULL)::integer"
    ).map { (hasSchema: $0.integer(0) != 0, hasTables: $0.integer(1) != 0) }.first
    if known?.hasTables == true { return }
    if known?.hasSchema != true { try connection.run("CREATE SCHEMA highwater") }
    try connection.run(PostgreSQLSchema.creation)
  }

  // MARK: Reading and writing

  func reading<Value>(_ body: (any HistoryReader) throws -> Value) throws -> Value {
    try locked {
      try transaction(.reading) { try body(PostgreSQLReader($0, project: project.id)) }
    }
  }

  func append(_ runs: [RunSummary]) throws -> History.Additions {
    try locked {
      try repeating {
        try makePartitions(for: runs)
        return try transaction(.writing) { try PostgreSQLWriter($0, project: project).append(runs) }
      }
    }
  }

  func prune(keeping retention: History.Retention) throws -> Int {
    try locked {
      try repeating {
        try transaction(.writing) { try PostgreSQLWriter($0, project: project).prune(keeping: retention) }
      }
    }
  }

  /// The connection ends with this object.
  func close() {}

  /// Creates the partitions of these runs' years.
  ///
  /// A role that may not create tables adds to the partition for all other years, and so does everyone once that has
  /// runs of the year.
  private func makePartitions(for runs: [RunSummary]) throws {
    let years = Set(runs.map { Calendar.gmt.component(.year, from: $0.run.startedAt) }).subtracting(knownYears)
    for year in years.sorted() where (2000...2999).contains(year) {
      let partition = PostgreSQLSchema.partition(of: year)
      do {
        try transaction(.writing) { connection in
          let query = "SELECT (to_regclass('\(partition.name)') IS NULL)::integer"
          func isMissing() throws -> Bool { try connection.run(query).map { $0.integer(0) != 0 }.first ?? false }
          guard try isMissing() else { return }
          try connection.run("SELECT pg_advisory_xact_lock(\(PostgreSQLSchema.lock))")
          if try isMissing() { try connection.run(partition.creation) }
        }
      } catch let error as PostgreSQLError {
        guard case .server = error.kind, !error.isDisconnection else { throw error }
      }
      knownYears.insert(year)
    }
  }

  /// Calls `body` again after a conflict with other transactions, and with a new connection after the server has closed
  /// the old one.
  private func repeating<Value>(_ body: () throws -> Value) throws -> Value {
    let end = ContinuousClock.now + Self.reconnectionTime
    while true {
      do {
        if connection.isLost { connection = try .open(address.url.exposed, connection.time) }
        return try body()
      } catch let error as PostgreSQLError {
        let mayPass = error.isConflict || error.isDisconnection || connection.isLost && error.kind == .unreachable
        guard mayPass, .now < end, connection.time.left > .zero else { throw error }
        if error.isDisconnection { connection.isLost = true }
        connection.pause(.milliseconds(100))
      }
    }
  }

  private enum Mode: String {
    // The planner underestimates how many runs have a scenario, and would read and sort all runs of a project instead of
    // its latest ones in the order of an index: 400 ms instead of 3 ms for 200 of 10,000 runs.
    case reading = """
      ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL cursor_tuple_fraction = 1; SET LOCAL enable_sort = off;
      SET LOCAL max_parallel_workers_per_gather = 0
      """
    case writing = "ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 60000"
  }

  private func transaction<Value>(_ mode: Mode, _ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
    let timeout = max(1, Int(connection.time.left / .milliseconds(1)))
    try connection.run(
      """
      BEGIN \(mode.rawValue); SET LOCAL search_path = highwater; SET LOCAL jit = off;
      SET LOCAL statement_timeout = \(timeout); SET LOCAL lock_timeout = \(timeout)
      """)
    do {
      let value = try body(connection)
      try connection.run("COMMIT")
      return value
    } catch {
      if !connection.isLost { _ = try? connection.run("ROLLBACK") }
      throw error
    }
  }

  private func locked<Value>(_ body: () throws -> Value) throws -> Value {
    var value: Value?
    try lock.withLock { _ in value = try Self.converting(address, body) }
    guard let value else { preconditionFailure("the body has returned a value, or thrown") }
    return value
  }

  private static func converting<Value>(
    _ address: DatabaseAddress, _ body: () throws -> Value
  ) throws(HistoryError) -> Value {
    do {
      return try body()
    } catch let error as PostgreSQLError {
      throw HistoryError(error, path: address.shown, hiding: address.secrets)
    } catch let error as DamagedRow {
      throw HistoryError(code: .unavailable, path: address.shown, problem: "has a damaged row: \(error.problem)")
    } catch {
      throw HistoryError(error, path: address.shown)
    }
  }
}

extension Calendar {
  static var gmt: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }
}

// MARK: - Opening

extension History {
  /// What a history in a database is opened for.
  enum Use: Sendable {
    /// To read it by a command.
    case reading
    /// To remove runs.
    case pruning
    /// To add the runs of an import, which may wait for a minute at a time.
    case importing
    /// To read and add within a check, which waits no longer than five seconds in all.
    case checking
  }

  /// Connects to a database; nil if it has no history, or none of this project.
  static func open(
    _ address: DatabaseAddress, project: String, for use: Use
  ) throws(HistoryError) -> History? {
    let (purpose, time): (PostgreSQLHistory.Purpose, WaitingTime) =
      switch use {
      case .reading: (.reading, .each(.seconds(60)))
      case .pruning: (.changing, .each(.seconds(600)))
      case .importing: (.adding, .each(.seconds(60)))
      case .checking: (.adding, .inAll(.seconds(5)))
      }
    return try PostgreSQLHistory.open(address, project: project, for: purpose, time)
      .map { History($0, path: address.shown) }
  }
}
