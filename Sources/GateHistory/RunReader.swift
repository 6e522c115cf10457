import FoundationEssentials
import GRDB
import GateCore

/// Reads runs within one transaction.
struct RunReader {
  private let db: Database
  private var environments: SharedValues<EnvironmentInfo>
  private var approvals: SharedValues<Approval>
  private var metricNames: [String: StoredMetricName] = [:]

  private static let columns = """
    SELECT run.*, branch.text AS branch FROM run LEFT JOIN name AS branch ON branch.id = run.branch_id
    """

  init(_ db: Database) {
    self.db = db
    environments = .environments(db)
    approvals = .approvals(db)
  }

  func row(of identifier: String) throws -> Row? {
    try Row.fetchOne(
      try db.cachedStatement(sql: "\(Self.columns) WHERE run.identifier = ?"), arguments: [identifier])
  }

  func allRows() throws -> [Row] {
    try Row.fetchAll(db, sql: "\(Self.columns) ORDER BY run.started_at, run.identifier")
  }

  /// The latest rows in the order of time; with names, of the runs of any of these scenarios.
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

  mutating func run(in row: Row) throws -> RunSummary {
    RunSummary(
      run: RunInfo(row),
      environment: try environments.value(row["environment_id"]),
      scenarios: try scenarios(ofRun: row["id"])
    )
  }

  private mutating func scenarios(ofRun run: Int64) throws -> [ScenarioSummary] {
    let rows = try Row.fetchAll(
      try db.cachedStatement(
        sql: """
          SELECT scenario.*, name.text AS name, tags.text AS tags FROM scenario JOIN name ON name.id = scenario.name_id
          LEFT JOIN name AS tags ON tags.id = scenario.tags_id
          WHERE run_id = ? ORDER BY scenario.id
          """), arguments: [run])
    let metricRows = try Row.fetchAll(
      try db.cachedStatement(
        sql: """
          SELECT scenario_id, name.text AS name, \(MetricResult.columns) FROM scenario
          JOIN metric ON metric.scenario_id = scenario.id JOIN name ON name.id = metric.name_id WHERE run_id = ?
          """), arguments: [run])
    let byScenario = Dictionary(grouping: metricRows) { $0["scenario_id"] as Int64 }
    return try rows.map { row in
      let perIteration: Bool = row["growth_is_per_iteration"]
      let metrics = (byScenario[row["id"]] ?? [])
        .map { MetricResult($0, name: metricName($0["name"]), perIteration: perIteration) }
        .sorted { MetricName.isListedBefore($0.metric, $1.metric) }
      return ScenarioSummary(
        name: ScenarioName(row["name"]),
        tags: (row["tags"] as String?)?.split(separator: ",").map(String.init) ?? [],
        verdict: Verdict(stored: row["verdict"]),
        environment: try environments.value(row["environment_id"]),
        repetitionCount: row["repetitions"],
        growthIsPerIteration: perIteration,
        metrics: metrics.filter(\.isGated),
        ungated: metrics.filter { !$0.isGated },
        failedRepetitions: try (row["failed_repetitions"] as String?).map {
          try JSONColumn.decode([FailedRepetition].self, from: $0)
        } ?? [],
        composition: Composition(row),
        approval: try (row["approval_id"] as Int64?).map { try approvals.value($0) }
      )
    }
  }

  private mutating func metricName(_ text: String) -> StoredMetricName {
    if let name = metricNames[text] { return name }
    let name = StoredMetricName(text: text)
    metricNames[text] = name
    return name
  }
}

/// Reads one scenario's runs in the order of time.
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
    try rows("scenario.verdict").map { Verdict(stored: $0["verdict"]) }
  }

  /// The runs that have values of the metric.
  func points(of name: StoredMetricName) throws -> [SeriesPoint] {
    var approvals = SharedValues.approvals(db)
    let columns = """
      run.*, branch.text AS branch, scenario.verdict AS verdict, scenario.growth_is_per_iteration,
      scenario.approval_id, \(MetricResult.columns)
      """
    let joining = """
      JOIN metric ON metric.scenario_id = scenario.id AND metric.name_id = (SELECT id FROM name WHERE text = ?)
      AND metric.median IS NOT NULL
      """
    return try rows(columns, joining: joining, [name.text]).map { row in
      SeriesPoint(
        run: RunInfo(row),
        verdict: Verdict(stored: row["verdict"]),
        metric: MetricResult(row, name: name, perIteration: row["growth_is_per_iteration"]),
        approval: try (row["approval_id"] as Int64?).map { try approvals.value($0) }
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
  /// A verdict that this version does not know counts as `skipped`.
  init(stored text: String) {
    self = Verdict(rawValue: text) ?? .skipped
  }
}

extension MetricResult {
  fileprivate static let columns = """
    metric.median, metric.low, metric.high, metric.count, metric.verdict AS metric_verdict, metric.baseline,
    metric.baseline_count, metric.change, metric.allowed, metric.limit_value
    """

  /// The tolerance, the interval of the change, the method and the reason are not stored.
  fileprivate init(_ row: Row, name: StoredMetricName, perIteration: Bool) {
    let unit = name.metric.unit(perIteration: perIteration, reported: name.reportedUnit)
    let (median, low, high): (Double?, Double?, Double?) = (row["median"], row["low"], row["high"])
    let verdict: String? = row["metric_verdict"]
    let baseline: Double? = row["baseline"]
    let limit: Double? = row["limit_value"]
    self.init(
      rule: GateRule(
        metric: name.metric, tolerance: nil, limit: limit.map { Amount($0, unit: unit) },
        severity: verdict == nil ? .off : .fail),
      unit: unit,
      verdict: verdict.map { Verdict(stored: $0) } ?? .skipped,
      baseline: baseline.map { ValueSummary(median: $0, count: row["baseline_count"] ?? 0) },
      current: median.map { median in
        let range = low.flatMap { low in high.map { min(low, $0)...max(low, $0) } }
        return ValueSummary(median: median, count: row["count"] ?? 0, range: range)
      },
      change: (row["change"] as Double?).map { change in
        let percent = baseline.flatMap { $0 > 0 ? change / $0 * 100 : nil }
        return Change(absolute: change, percent: percent, low: change, high: change)
      },
      allowed: row["allowed"]
    )
  }
}

extension Amount {
  /// The amount that a number in this unit is.
  fileprivate init(_ value: Double, unit: String) {
    switch unit {
    case "seconds": self = .time(.seconds(value))
    case _ where MetricUnit.isMemory(unit): self = .size(Bytes(clampedFrom: value))
    default: self = .number(value)
    }
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
