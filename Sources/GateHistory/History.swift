package import FoundationEssentials
package import GateCore
import GRDB

/// The runs of a project in one SQLite file, which several processes may use at once.
///
/// Each change is one transaction that is on disk when the call returns (`synchronous = FULL`, write-ahead log): a
/// killed process loses only the transaction in progress.
package struct History: Sendable {
  package let path: String
  /// The new name of an unusable file that was replaced, if any.
  package let unusableFile: String?
  private let queue: DatabaseQueue

  /// How long a process waits for others, in seconds; a large import releases the file after each batch.
  static let lockTimeout = 60.0

  /// Opens a history for writing; creates one if there is none, or only an unusable one.
  ///
  /// A damaged file or one of another program is renamed (``unusableFile``) and never changed. The folder must exist.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - now: The time stamp in the name of a file that is renamed.
  /// - Returns: the open history.
  /// - Throws: also if the file is a history of another version, which is left unchanged.
  package static func open(_ path: String, at now: Date) throws(HistoryError) -> History {
    let file = HistoryFile(path: path)
    return try file.withLock { () throws(HistoryError) in
      var unusable: String?
      do throws(HistoryError) {
        _ = try file.state()
      } catch  where error.isUnusable {
        unusable = try file.moveAside(at: now)
      }
      return try History(path: path, unusableFile: unusable)
    }
  }

  /// Opens an existing history; nil if there is none.
  ///
  /// An unusable file is left unchanged.
  package static func openExisting(_ path: String) throws(HistoryError) -> History? {
    let file = HistoryFile(path: path)
    guard try file.state() == .usable else { return nil }
    return try file.withLock { () throws(HistoryError) in try History(path: path, unusableFile: nil) }
  }

  /// Opens an existing history for reading only; nil if there is none.
  ///
  /// A file that cannot be written, such as an artifact on a read-only file system, is copied into memory: in WAL mode
  /// SQLite writes beside the file even to read it.
  package static func openToRead(_ path: String) throws(HistoryError) -> History? {
    let file = HistoryFile(path: path)
    do throws(HistoryError) {
      return try openExisting(path)
    } catch  where error.code == .notWritable && file.isComplete {
      return try History(copyOf: file)
    }
  }

  /// Renames the file, which turned out to be damaged, and creates a new one.
  ///
  /// This value must not be used any more: SQLite would associate the files beside the new database with the old one.
  package func replacingDamagedFile(at now: Date) throws(HistoryError) -> History {
    try? queue.close()
    let file = HistoryFile(path: path)
    return try file.withLock { () throws(HistoryError) in
      try History(path: path, unusableFile: try file.moveAside(at: now))
    }
  }

  private init(path: String, unusableFile: String?) throws(HistoryError) {
    var configuration = Configuration()
    configuration.journalMode = .wal
    configuration.busyMode = .timeout(Self.lockTimeout)
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA synchronous = FULL")
    }
    self.path = path
    self.unusableFile = unusableFile
    do {
      queue = try HistoryFile(path: path).withSQLitePath { try DatabaseQueue(path: $0, configuration: configuration) }
      try HistorySchema.create(in: queue)
    } catch {
      throw HistoryError(error, path: path)
    }
  }

  private init(copyOf file: HistoryFile) throws(HistoryError) {
    path = file.path
    unusableFile = nil
    do {
      queue = try DatabaseQueue()
      try file.copy(to: queue)
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
  /// The outcome of an addition.
  package struct Additions: Sendable, Equatable {
    package var added = 0
    /// How many runs were stored before.
    package var known = 0
    /// IDs of runs that were stored with other values.
    package var conflicts: [String] = []

    package init() {}
  }

  /// Adds runs in one transaction; a run that is already stored is not stored again.
  ///
  /// If two runs have the same ID and different values, the one whose values sort last is kept, so that the result does
  /// not depend on the order of additions.
  ///
  /// - Parameter runs: In any order.
  /// - Returns: the outcome.
  /// - Throws: if no run was added.
  @discardableResult
  package func append(_ runs: [RunSummary]) throws(HistoryError) -> Additions {
    try writing { db in
      var writer = try RunWriter(db)
      var reader = try RunReader(db)
      var additions = Additions()
      for run in runs {
        guard let known = try reader.run(withIdentifier: run.run.id) else {
          try writer.insert(run)
          additions.added += 1
          continue
        }
        let stored = try reader.summary(of: known)
        additions.known += 1
        if run == stored { continue }
        let (text, storedText) = (run.comparedText, stored.comparedText)
        if text == storedText { continue }
        additions.conflicts.append(run.run.id)
        if storedText < text {
          try writer.replace(stored, by: run)
          reader = try RunReader(db)
        }
      }
      return additions
    }
  }

  /// The runs that are kept.
  package enum Retention: Sendable, Equatable {
    /// This many latest runs.
    case latest(Int)
    /// Runs that started at this time or later.
    case since(Date)
  }

  /// Removes all other runs, and shrinks the file.
  ///
  /// - Returns: the number of removed runs.
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
      if removed > 0 { try RunWriter.deleteUnusedRows(from: db) }
      return removed
    }
    // The file cannot shrink while another process uses it; the next pruning shrinks it.
    if removed > 0 { try? queue.vacuum() }
    return removed
  }
}

// MARK: - Queries

extension History {
  /// The runs of a scenario that a query returns.
  package struct Selection: Sendable, Equatable {
    package enum Branch: Sendable, Equatable {
      case any
      /// This branch; nil for runs whose branch is unknown.
      case named(String?)
    }

    package var scenario: ScenarioName
    /// The name of an environment; nil for all.
    package var environment: String?
    package var branch: Branch
    /// Only this many latest runs; nil for all.
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

  /// The latest runs in order of time; with names, those of any of these scenarios.
  package func runs(latest: Int, of scenarios: [ScenarioName] = []) throws(HistoryError) -> [RunSummary] {
    try reading { db in
      var reader = try RunReader(db)
      return try RunReader.latestRuns(db, count: latest, of: scenarios).map { try reader.summary(of: $0) }
    }
  }

  /// Calls `body` with each run, in order of time; runs added in the meantime are not included.
  package func forEachRun(_ body: (RunSummary) -> Void) throws(HistoryError) {
    try reading { db in
      var reader = try RunReader(db)
      for run in try RunReader.allRuns(db) { body(try reader.summary(of: run)) }
    }
  }

  /// One metric of one scenario in order of time, for the runs that have values of it.
  ///
  /// The unit matters only for a reported value, which is another series if it has another unit.
  package func series(
    of metric: MetricName,
    unit: String,
    in selection: Selection
  ) throws(HistoryError) -> [SeriesPoint] {
    try reading { db in
      try SeriesReader(db, selection).points(of: StoredMetricName(metric, reportedUnit: unit))
    }
  }

  /// A scenario's verdicts, oldest first.
  package func verdicts(in selection: Selection) throws(HistoryError) -> [Verdict] {
    try reading { db in try SeriesReader(db, selection).verdicts() }
  }

  /// The run that first named this function for a rise over the same baseline; nil if none has.
  package func firstNaming(
    _ function: FunctionName, over approval: Approval?, in selection: Selection
  ) throws(HistoryError) -> RunInfo? {
    try reading { db in
      try SeriesReader(db, selection).explanations().first { earlier in
        earlier.finding.culprit?.change.function == function && earlier.approval == approval
      }?.run
    }
  }

  /// The series of all scenarios; runs added in the meantime are not included.
  package func trend(createdAt: Date, links: BuildLinks) throws(HistoryError) -> Trend {
    try reading { db in
      let index = try TrendIndex(db)
      let builder = SeriesBuilder(index.source)
      let step = max(1, Self.mostRuns / max(1, index.source.runs.count))
      let series = try stride(from: 0, to: index.scenarios.count, by: step).flatMap { start in
        let scenarios = start..<min(start + step, index.scenarios.count)
        return try ScenarioHistoryReader.read(scenarios, of: index, from: db).flatMap(builder.series)
      }
      return builder.trend(of: series, createdAt: createdAt, links: links)
    }
  }

  /// The maximum number of scenario runs in memory, at about 200 bytes each; a larger history takes several passes.
  private static let mostRuns = 400_000
}

extension Date {
  /// Milliseconds since 1970, as stored.
  var inMilliseconds: Int64 {
    // A Double is exact to a microsecond for the next thousand years.
    Int64(max(-9e15, min(9e15, (timeIntervalSince1970 * 1000).rounded())))
  }

  init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}

extension RunSummary {
  /// The text for comparing two runs with the same ID: the stored fields, which are fewer than those of a result file.
  fileprivate var comparedText: String {
    let head = [run.commit, run.branch, run.subject, run.buildURL].map { $0 ?? "" } + ["\(run.isDirty)"]
    let scenarios = scenarios.map { scenario in
      let metrics = scenario.allMetrics.map { "\($0.metric) \($0.verdict.rawValue) \($0.current?.median ?? 0)" }
      return "\(scenario.name) \(scenario.verdict.rawValue) \(metrics.joined(separator: " "))"
    }
    return (head + scenarios).joined(separator: "\n")
  }
}
