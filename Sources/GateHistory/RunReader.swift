import FoundationEssentials
import GRDB
import GateCore

/// Makes runs of the tables' rows, within one transaction.
final class RunReader {
  private let db: Database
  private var environments: [Int64: EnvironmentInfo] = [:]
  private var approvals: [Int64: Baseline.Approval] = [:]
  private var metrics: [String: (metric: MetricName, reported: String?)] = [:]

  private static let columns = """
    SELECT run.*, branch.text AS branch FROM run LEFT JOIN name AS branch ON branch.id = run.branch_id
    """

  init(_ db: Database) {
    self.db = db
  }

  func row(of identifier: String) throws -> Row? {
    try Row.fetchOne(
      try db.cachedStatement(sql: "\(Self.columns) WHERE run.identifier = ?"), arguments: [identifier])
  }

  func allRows() throws -> [Row] {
    try Row.fetchAll(db, sql: "\(Self.columns) ORDER BY run.started_at, run.identifier")
  }

  /// The latest rows in the order of time; of those that ran any of the scenarios, where some are named.
  func rows(latest: Int, of scenarios: [ScenarioName]) throws -> [Row] {
    let marks = scenarios.map { _ in "?" }.joined(separator: ", ")
    let condition =
      scenarios.isEmpty
      ? ""
      : """
      WHERE run.id IN (SELECT run_id FROM scenario JOIN name ON name.id = scenario.name_id WHERE name.text IN (\(marks)))
      """
    let rows = try Row.fetchAll(
      db,
      sql: "\(Self.columns) \(condition) ORDER BY run.started_at DESC, run.identifier DESC LIMIT ?",
      arguments: StatementArguments(scenarios.map(\.text)) + [max(0, latest)]
    )
    return rows.reversed()
  }

  func run(in row: Row) throws -> RunRecord {
    RunRecord(
      run: RunInfo(row),
      environment: try environment(row["environment_id"]),
      scenarios: try scenarios(ofRun: row["id"])
    )
  }

  private func scenarios(ofRun run: Int64) throws -> [ScenarioRecord] {
    let rows = try Row.fetchAll(
      try db.cachedStatement(
        sql: """
          SELECT scenario.*, name.text AS name, tags.text AS tags FROM scenario JOIN name ON name.id = scenario.name_id
          LEFT JOIN name AS tags ON tags.id = scenario.tags_id
          WHERE run_id = ? ORDER BY scenario.id
          """), arguments: [run])
    var metrics = try grouped(
      """
      SELECT metric.*, name.text AS name FROM scenario JOIN metric ON metric.scenario_id = scenario.id
      JOIN name ON name.id = metric.name_id WHERE run_id = ?
      """, of: run
    ) { row in
      let (metric, reported) = self.metric(row["name"])
      return MetricRecord(metric: metric, reported: reported, row)
    }
    var troubles = try grouped(
      """
      SELECT trouble.* FROM scenario JOIN trouble ON trouble.scenario_id = scenario.id WHERE run_id = ?
      ORDER BY repetition
      """, of: run, ScenarioRecord.Trouble.init)
    return try rows.map { row in
      let id: Int64 = row["id"]
      return ScenarioRecord(
        name: ScenarioName(row["name"]),
        tags: (row["tags"] as String?)?.split(separator: ",").map(String.init) ?? [],
        verdict: Verdict(row["verdict"]),
        environment: try environment(row["environment_id"]),
        repetitions: row["repetitions"],
        growthIsPerIteration: row["growth_is_per_iteration"],
        metrics: (metrics.removeValue(forKey: id) ?? [])
          .sorted { MetricRecord.isShownBefore($0.metric, $1.metric) },
        troubles: troubles.removeValue(forKey: id) ?? [],
        composition: Composition(row),
        approval: try (row["approval_id"] as Int64?).map(approval)
      )
    }
  }

  /// What the rows of one run yield, by the scenario that they are of.
  private func grouped<Value>(
    _ sql: String,
    of run: Int64,
    _ read: (Row) -> Value
  ) throws -> [Int64: [Value]] {
    let cursor = try Row.fetchCursor(try db.cachedStatement(sql: sql), arguments: [run])
    var values: [Int64: [Value]] = [:]
    while let row = try cursor.next() { values[row["scenario_id"], default: []].append(read(row)) }
    return values
  }

  // MARK: What stands once

  func environment(_ id: Int64) throws -> EnvironmentInfo {
    if let known = environments[id] { return known }
    let statement = try db.cachedStatement(sql: "SELECT * FROM environment WHERE id = ?")
    guard let row = try Row.fetchOne(statement, arguments: [id]) else { throw missing("environment") }
    let environment = EnvironmentColumns.environment(in: row)
    environments[id] = environment
    return environment
  }

  func approval(_ id: Int64) throws -> Baseline.Approval {
    if let known = approvals[id] { return known }
    let statement = try db.cachedStatement(sql: "SELECT * FROM approval WHERE id = ?")
    guard let row = try Row.fetchOne(statement, arguments: [id]) else { throw missing("approval") }
    let approval = Baseline.Approval(
      at: Date(milliseconds: row["approved_at"]), by: row["approved_by"], commit: row["commit_id"],
      reason: row["reason"], run: row["of_run"]
    )
    approvals[id] = approval
    return approval
  }

  private func metric(_ text: String) -> (metric: MetricName, reported: String?) {
    if let known = metrics[text] { return known }
    let metric = MetricRecord.split(nameInHistory: text)
    metrics[text] = metric
    return metric
  }

  private func missing(_ what: String) -> DatabaseError {
    DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a run names an \(what) that is not there")
  }
}

/// Reads what one scenario's runs say, in the order of time.
struct SeriesReader {
  private let db: Database
  private let condition: String
  private let arguments: StatementArguments
  private let latest: Int

  init(_ db: Database, _ selection: History.Selection) {
    var (condition, arguments) = ("name.text = ?", [selection.scenario.text] as [(any DatabaseValueConvertible)?])
    if let environment = selection.environment {
      condition += " AND scenario.environment_id IN (SELECT id FROM environment WHERE name = ?)"
      arguments.append(environment)
    }
    if case .named(let branch) = selection.branch {
      condition += " AND branch.text IS ?"
      arguments.append(branch)
    }
    self.db = db
    self.condition = condition
    self.arguments = StatementArguments(arguments)
    // SQLite takes a negative limit for none.
    latest = selection.latest.map { max(0, $0) } ?? -1
  }

  private func rows(_ columns: String, joining: String = "", _ extra: StatementArguments = []) throws -> [Row] {
    let sql = """
      SELECT \(columns) FROM name JOIN scenario ON scenario.name_id = name.id JOIN run ON run.id = scenario.run_id
      LEFT JOIN name AS branch ON branch.id = run.branch_id \(joining)
      WHERE \(condition) ORDER BY run.started_at DESC, run.identifier DESC, scenario.id DESC LIMIT ?
      """
    return try Row.fetchAll(db, sql: sql, arguments: extra + arguments + [latest]).reversed()
  }

  func verdicts() throws -> [Verdict] {
    try rows("scenario.verdict").map { Verdict($0["verdict"]) }
  }

  func points(of metric: MetricName, reported: String?) throws -> [SeriesPoint] {
    let reader = RunReader(db)
    let columns = """
      run.*, branch.text AS branch, scenario.verdict AS scenario_verdict, scenario.approval_id, metric.median,
      metric.low, metric.high, metric.count, metric.verdict AS metric_verdict, metric.baseline, metric.change,
      metric.allowed, metric.limit_bytes
      """
    let joining = """
      JOIN metric ON metric.scenario_id = scenario.id AND metric.name_id = (SELECT id FROM name WHERE text = ?)
      """
    return try rows(columns, joining: joining, [MetricRecord.nameInHistory(of: metric, reported: reported)]).map { row in
      SeriesPoint(
        run: RunInfo(row),
        verdict: Verdict(row["scenario_verdict"]),
        record: MetricRecord(metric: metric, reported: reported, row, verdict: "metric_verdict"),
        approval: try (row["approval_id"] as Int64?).map(reader.approval)
      )
    }
  }
}

// MARK: - Rows as values

extension RunInfo {
  init(_ row: Row) {
    self.init(
      id: row["identifier"], startedAt: Date(milliseconds: row["started_at"]),
      duration: .nanoseconds(row["duration"] as Int64), commit: row["commit_id"],
      subject: row["subject"], branch: row["branch"], buildURL: row["build_url"]
    )
  }
}

extension Verdict {
  /// A verdict of a later version says nothing to this one.
  init(_ text: String) {
    self = Verdict(rawValue: text) ?? .skipped
  }
}

extension MetricRecord {
  /// A metric's name in the tables: a figure of a target's own has its unit behind a space, as in
  /// `value.cache.entries items`, since in another unit it is another series.
  static func nameInHistory(of metric: MetricName, reported: String?) -> String {
    reported.map { "\(metric) \($0)" } ?? metric.text
  }

  static func split(nameInHistory text: String) -> (metric: MetricName, reported: String?) {
    guard MetricName(text).isValue, let space = text.lastIndex(of: " ") else { return (MetricName(text), nil) }
    return (MetricName(String(text[..<space])), String(text[text.index(after: space)...]))
  }

  fileprivate init(metric: MetricName, reported: String?, _ row: Row, verdict: String = "verdict") {
    let (median, low, high): (Double?, Double?, Double?) = (row["median"], row["low"], row["high"])
    let judged = (row[verdict] as String?).map { text in
      Judgement(
        verdict: Verdict(text), baseline: row["baseline"], change: row["change"], allowed: row["allowed"],
        limit: row["limit_bytes"]
      )
    }
    self.init(
      metric: metric,
      reported: reported,
      figures: median.map { Figures(median: $0, low: low ?? $0, high: high ?? $0, count: row["count"] ?? 0) },
      judgement: judged
    )
  }
}

extension ScenarioRecord.Trouble {
  init(_ row: Row) {
    let end = End(
      (row["kind"] as String?).flatMap(End.Kind.init) ?? .unknown,
      code: row["code"],
      signal: (row["signal"] as Int32?).map { Signal(number: $0) },
      proof: (row["proof"] as String?).map { .verbatim($0) },
      cause: (row["detail"] as String?).map { .verbatim($0) },
      oomKills: row["oom_kills"]
    )
    self.init(repetition: row["repetition"], end: end)
  }
}

extension Composition {
  fileprivate init?(_ row: Row) {
    func amount(_ column: String) -> Bytes? { (row[column] as Int64?).map { Bytes($0) } }
    guard let anonymous = amount("anon") else { return nil }
    self.init(
      anonymous: anonymous, file: amount("file") ?? .zero, shared: amount("shmem") ?? .zero, stack: amount("stack"),
      heap: amount("heap"), lazilyFreed: amount("lazy_free"), hugePages: amount("huge_pages")
    )
  }
}
