package import FoundationEssentials
package import GateCore
import GRDB

/// Every run of a project, in one SQLite file that many processes may use at once.
///
/// Each change is one transaction that is on the disk when the call returns (`synchronous = FULL`, write-ahead log):
/// a process that is killed at any instant loses what it was about to add, and nothing else.
package struct History: Sendable {
  package let path: String
  /// Where the file was moved that stood here and was of no use; nil where there was none.
  package let setAside: String?
  private let queue: DatabaseQueue

  /// How long one process waits for the others, in seconds; a large import lets go after each batch.
  static let patience = 60.0

  /// Opens a history to add to it; begins one where there is none, or none that can be used.
  ///
  /// A damaged file and one of another program are set aside (``setAside``) and never changed. The folder must be there.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - now: The time stamp in the name of a file that is set aside.
  /// - Returns: the open history.
  /// - Throws: also where a later version of this program wrote the file, which is left as it is.
  package static func open(_ path: String, at now: Date) throws(HistoryError) -> History {
    let file = HistoryFile(path: path)
    return try file.alone { () throws(HistoryError) in
      var aside: String?
      do throws(HistoryError) {
        _ = try file.state()
      } catch  where error.isOfNoUse {
        aside = try file.setAside(at: now)
      }
      return try History(path: path, setAside: aside)
    }
  }

  /// Opens a history that is there; nil where there is none.
  ///
  /// A file of no use is left as it is.
  package static func openExisting(_ path: String) throws(HistoryError) -> History? {
    let file = HistoryFile(path: path)
    guard try file.state() == .usable else { return nil }
    return try file.alone { () throws(HistoryError) in try History(path: path, setAside: nil) }
  }

  /// Opens a history that is there, to ask it only; nil where there is none.
  ///
  /// What may not be written, such as an artifact on a file system that is read only, is copied into memory and brought
  /// to the present version there: SQLite needs to write beside a file of this kind even to read it.
  package static func openToRead(_ path: String) throws(HistoryError) -> History? {
    let file = HistoryFile(path: path)
    do throws(HistoryError) {
      return try openExisting(path)
    } catch  where error.code == .notWritable && file.isComplete {
      return try History(copyOf: file)
    }
  }

  /// Sets the file aside, which turned out to be damaged only while it was used, and begins a new one.
  ///
  /// This value cannot be used any more: SQLite would take the files beside the new one for those of the old.
  package func beginAnew(at now: Date) throws(HistoryError) -> History {
    try? queue.close()
    let file = HistoryFile(path: path)
    return try file.alone { () throws(HistoryError) in
      try History(path: path, setAside: try file.setAside(at: now))
    }
  }

  private init(path: String, setAside: String?) throws(HistoryError) {
    var configuration = Configuration()
    configuration.journalMode = .wal
    configuration.busyMode = .timeout(Self.patience)
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA synchronous = FULL")
    }
    self.path = path
    self.setAside = setAside
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
      try HistorySchema.migrator.migrate(queue)
    } catch {
      throw HistoryError(error, path: path)
    }
  }

  private init(copyOf file: HistoryFile) throws(HistoryError) {
    path = file.path
    setAside = nil
    do {
      queue = try DatabaseQueue()
      try file.copy(to: queue)
      try HistorySchema.migrator.migrate(queue)
    } catch {
      throw HistoryError(error, path: path)
    }
  }

  private func reading<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
    do {
      return try queue.read(body)
    } catch {
      throw HistoryError(error, path: path)
    }
  }

  private func writing<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
    do {
      return try queue.writeWithoutTransaction { db in
        var value: Value?
        try db.inTransaction(.immediate) {
          value = try body(db)
          return .commit
        }
        guard let value else { preconditionFailure("the transaction has ended without an error, so its body has") }
        return value
      }
    } catch {
      throw HistoryError(error, path: path)
    }
  }
}

// MARK: - Adding and removing

extension History {
  /// What became of the runs of one addition.
  package struct Additions: Sendable, Equatable {
    package var added = 0
    /// They were there already.
    package var known = 0
    /// Ids of runs that were there with other figures.
    package var conflicts: [String] = []

    package init() {}
  }

  /// Adds a finished run; nothing changes where it is there already.
  @discardableResult
  package func append(_ result: RunResult) throws(HistoryError) -> Additions {
    try append([RunRecord(result)]) { _, _ in false }
  }

  /// Adds runs in one transaction; those that are there already stay once.
  ///
  /// - Parameters:
  ///   - records: In any order.
  ///   - prefers: Of two runs of one id, whether the new one takes the place of the kept one. For additions to come to
  ///     the same in any order it must be a strict order of the figures.
  /// - Returns: what became of them.
  /// - Throws: where none was added.
  package func append(
    _ records: [RunRecord],
    prefers: (_ new: RunRecord, _ kept: RunRecord) -> Bool
  ) throws(HistoryError) -> Additions {
    try writing { db in
      let writer = try RunWriter(db)
      let reader = RunReader(db)
      var additions = Additions()
      for record in records {
        guard let row = try reader.row(of: record.run.id) else {
          try writer.insert(record)
          additions.added += 1
          continue
        }
        let kept = try reader.run(in: row)
        additions.known += 1
        if record == kept { continue }
        let isPreferred = prefers(record, kept)
        if isPreferred || prefers(kept, record) { additions.conflicts.append(record.run.id) }
        if isPreferred { try writer.replace(kept, by: record) }
      }
      return additions
    }
  }

  /// Which runs stay.
  package enum Retention: Sendable, Equatable {
    /// The latest ones, as many as this.
    case latest(Int)
    /// Those that started then or later.
    case since(Date)
  }

  /// Removes all runs but those that are to stay, and gives the room back to the disk.
  ///
  /// - Returns: how many were removed.
  package func prune(keeping retention: Retention) throws(HistoryError) -> Int {
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
      if removed > 0 { try RunWriter.removeOrphans(from: db) }
      return removed
    }
    // Another process that uses the file now keeps it from shrinking, which the next pruning makes good.
    if removed > 0 { try? queue.vacuum() }
    return removed
  }
}

// MARK: - Asking

extension History {
  /// A scenario's runs that are asked for.
  package struct Selection: Sendable, Equatable {
    package enum Branch: Sendable, Equatable {
      case any
      /// This one; nil is that of runs whose branch is not known.
      case named(String?)
    }

    package var scenario: ScenarioName
    /// The name of an environment; nil is all.
    package var environment: String?
    package var branch: Branch
    /// Only the latest ones, as many as this; nil is all.
    package var latest: Int?

    package init(
      _ scenario: ScenarioName,
      environment: String? = nil,
      branch: Branch = .any,
      latest: Int? = nil
    ) {
      self.scenario = scenario
      self.environment = environment
      self.branch = branch
      self.latest = latest
    }
  }

  package func isEmpty() throws(HistoryError) -> Bool {
    try reading { db in try Int.fetchOne(db, sql: "SELECT id FROM run LIMIT 1") == nil }
  }

  /// The latest runs in the order of time; with names, of those that ran any of these scenarios.
  package func runs(
    latest: Int,
    of scenarios: [ScenarioName] = []
  ) throws(HistoryError) -> [RunRecord] {
    try reading { db in
      let reader = RunReader(db)
      return try reader.rows(latest: latest, of: scenarios).map(reader.run)
    }
  }

  /// Hands all runs over in the order of time, as they are at one instant, one by one.
  package func eachRun(_ body: (RunRecord) -> Void) throws(HistoryError) {
    try reading { db in
      let reader = RunReader(db)
      for row in try reader.allRows() { body(try reader.run(in: row)) }
    }
  }

  /// One metric of one scenario in the order of time; of a figure of the target's own, in the unit that it `told`.
  package func series(
    of metric: MetricName,
    reported: String? = nil,
    in selection: Selection
  ) throws(HistoryError) -> [SeriesPoint] {
    try reading { db in try SeriesReader(db, selection).points(of: metric, reported: reported) }
  }

  /// The history as people review it, as it is at one instant.
  package func trend(madeAt date: Date, links: BuildLinks) throws(HistoryError) -> Trend {
    var courses: [ScenarioCourse] = []
    let maker = try reading { db in
      let index = try TrackIndex(db)
      let maker = CourseMaker(index.inventory)
      let step = max(1, Self.mostRows / max(1, index.runs.count))
      for start in stride(from: 0, to: index.scenarios.count, by: step) {
        let scenarios = start..<min(start + step, index.scenarios.count)
        var reader = try TrackReader(db, index, scenarios: scenarios)
        courses += maker.courses(of: try reader.read())
      }
      return maker
    }
    return maker.trend(of: courses, madeAt: date, links: links)
  }

  /// How many scenarios' runs are in memory at a time, at some 200 bytes each: a history of more takes several passes.
  private static let mostRows = 400_000

  /// A scenario's verdicts, the oldest first.
  package func verdicts(in selection: Selection) throws(HistoryError) -> [Verdict] {
    try reading { db in try SeriesReader(db, selection).verdicts() }
  }
}

extension Date {
  /// Milliseconds since 1970, as instants are kept.
  var inMilliseconds: Int64 {
    // A Double is exact to a microsecond for the next thousand years.
    Int64(max(-9e15, min(9e15, (timeIntervalSince1970 * 1000).rounded())))
  }

  init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}
