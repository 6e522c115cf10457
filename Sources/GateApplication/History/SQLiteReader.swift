import GRDB
import GateCore

/// Reads a history within one transaction.
struct SQLiteReader: HistoryReader {
  let db: Database

  func isEmpty() throws -> Bool {
    try Int.fetchOne(db, sql: "SELECT id FROM run LIMIT 1") == nil
  }

  func runs(latest: Int, of scenarios: [ScenarioName]) throws -> [RunSummary] {
    var reader = try SQLiteRunReader(db)
    return try SQLiteRunReader.latestRuns(db, count: latest, of: scenarios).map { try reader.summary(of: $0) }
  }

  func forEachRun(_ body: (RunSummary) -> Void) throws {
    var reader = try SQLiteRunReader(db)
    for run in try SQLiteRunReader.allRuns(db) { body(try reader.summary(of: run)) }
  }

  func points(of metric: StoredMetricName, in selection: History.Selection) throws -> [SeriesPoint] {
    try SQLiteSeriesReader(db, selection).points(of: metric)
  }

  func verdicts(in selection: History.Selection) throws -> [Verdict] {
    try SQLiteSeriesReader(db, selection).verdicts()
  }

  func findings(in selection: History.Selection) throws -> [StoredFinding] {
    try SQLiteSeriesReader(db, selection).explanations()
  }

  func trendIndex() throws -> TrendIndex {
    var (environments, approvals) = (StoredJSON.environments(of: db), StoredJSON.approvals(of: db))
    return TrendIndex(
      runs: try SQLiteRunReader.allRuns(db),
      environments: try Int64.fetchAll(db, sql: "SELECT id FROM environment ORDER BY id")
        .map { ($0, try environments.value($0)) },
      approvals: try Int64.fetchAll(db, sql: "SELECT id FROM approval ORDER BY id")
        .map { ($0, try approvals.value($0)) },
      scenarios: try RawStatement(
        db, "SELECT id, text FROM name WHERE id IN (SELECT name_id FROM scenario) ORDER BY text"
      ).rows { ($0.integer(0), ScenarioName($0.text(1))) })
  }

  func histories(of scenarios: Range<Int>, in index: TrendIndex) throws -> [ScenarioHistory] {
    try SQLiteTrendReader.read(scenarios, of: index, from: db)
  }
}

/// Reads whole runs within one transaction.
struct SQLiteRunReader {
  private let db: Database
  private let selectRun: RawStatement
  private let selectScenarios: RawStatement
  private let selectMetrics: RawStatement
  private var environments: StoredJSON<EnvironmentInfo>
  private var approvals: StoredJSON<Approval>
  private var names: StoredNames

  fileprivate static let metricColumns = StoredMetric.columns.map { "metric.\($0)" }.joined(separator: ", ")

  init(_ db: Database) throws {
    self.db = db
    selectRun = try Self.selectRuns(db, "WHERE run.identifier = ?")
    selectScenarios = try RawStatement(
      db, "SELECT \(StoredScenario.columns) FROM scenario WHERE run_id = ? ORDER BY id")
    selectMetrics = try RawStatement(
      db, "SELECT metric.name_id, \(Self.metricColumns) FROM metric WHERE scenario_id = ?")
    environments = .environments(of: db)
    approvals = .approvals(of: db)
    names = .texts(of: db)
  }

  func run(withIdentifier identifier: String) throws -> StoredRun? {
    try selectRun.rows([.text(identifier)]) { StoredRun($0) }.first
  }

  static func allRuns(_ db: Database) throws -> [StoredRun] {
    try selectRuns(db, "ORDER BY run.started_at, run.identifier").rows { StoredRun($0) }
  }

  /// The latest runs in order of time; with names, those of any of these scenarios.
  static func latestRuns(_ db: Database, count: Int, of scenarios: [ScenarioName]) throws -> [StoredRun] {
    let marks = scenarios.map { _ in "?" }.joined(separator: ", ")
    let condition =
      scenarios.isEmpty
      ? ""
      : """
      WHERE run.id IN (SELECT run_id FROM scenario JOIN name ON name.id = scenario.name_id WHERE name.text IN (\(marks)))
      """
    return try selectRuns(db, "\(condition) ORDER BY run.started_at DESC, run.identifier DESC LIMIT ?")
      .rows(scenarios.map { .text($0.text) } + [.integer(Int64(max(0, count)))]) { StoredRun($0) }
      .reversed()
  }

  private static func selectRuns(_ db: Database, _ selection: String) throws -> RawStatement {
    try RawStatement(db, "SELECT \(StoredRun.columns) FROM run \(StoredRun.joins) \(selection)")
  }

  mutating func summary(of run: StoredRun) throws -> RunSummary {
    RunSummary(
      run: run.info,
      environment: try environments.value(run.environment),
      scenarios: try selectScenarios.rows([.integer(run.id)]) { try StoredScenario($0) }.map { try summary(of: $0) }
    )
  }

  private mutating func summary(of scenario: StoredScenario) throws -> ScenarioSummary {
    let metrics = try selectMetrics.rows([.integer(scenario.id)]) { row in
      (try names.metric(row.integer(0)), StoredMetric(row, from: 1))
    }
    return scenario.summary(
      name: try names.text(scenario.name), tags: try names.tags(scenario.tags),
      environment: try environments.value(scenario.environment),
      approval: try scenario.approval.map { try approvals.value($0) }, metrics: metrics)
  }
}

/// Reads one scenario's runs in order of time.
struct SQLiteSeriesReader {
  private let db: Database
  private let condition: String
  private let arguments: [StoredValue]

  init(_ db: Database, _ selection: History.Selection) {
    var (condition, arguments) = ("name.text = ?", [StoredValue.text(selection.scenario.text)])
    if let environment = selection.environment {
      condition += " AND scenario.environment_id IN (SELECT id FROM environment WHERE name = ?)"
      arguments.append(.text(environment))
    }
    if case .named(let branch) = selection.branch {
      condition += " AND branch.text IS ?"
      arguments.append(.text(branch))
    }
    self.db = db
    self.condition = condition
    // For SQLite, a negative limit means no limit.
    self.arguments = arguments + [.integer(selection.latest.map { Int64(max(0, $0)) } ?? -1)]
  }

  private func statement(_ columns: String, joining: String = "") throws -> RawStatement {
    try RawStatement(
      db,
      """
      SELECT \(columns) FROM name JOIN scenario ON scenario.name_id = name.id JOIN run ON run.id = scenario.run_id
      \(StoredRun.joins) \(joining)
      WHERE \(condition) ORDER BY run.started_at DESC, run.identifier DESC, scenario.id DESC LIMIT ?
      """)
  }

  func verdicts() throws -> [Verdict] {
    try statement("scenario.verdict").rows(arguments) { Verdict(stored: $0.text(0)) }.reversed()
  }

  /// The runs whose rise was explained.
  func explanations() throws -> [StoredFinding] {
    var approvals = StoredJSON.approvals(of: db)
    let first = StoredRun.columnCount
    return try statement("\(StoredRun.columns), scenario.approval_id, scenario.explanation")
      .rows(arguments) { row in
        let explanation = try row.optionalText(first + 1).flatMap(RiseExplanation.init(stored:))
        return try explanation.map { explanation in
          StoredFinding(
            run: StoredRun(row).info, approval: try row.optionalInteger(first).map { try approvals.value($0) },
            finding: explanation.finding)
        }
      }.compactMap(\.self).reversed()
  }

  /// The runs that have values of the metric.
  func points(of name: StoredMetricName) throws -> [SeriesPoint] {
    var approvals = StoredJSON.approvals(of: db)
    let statement = try statement(
      """
      \(StoredRun.columns), scenario.verdict, scenario.growth_is_per_iteration, scenario.approval_id,
      \(SQLiteRunReader.metricColumns)
      """,
      joining: """
        JOIN metric ON metric.scenario_id = scenario.id AND metric.median IS NOT NULL
        AND metric.name_id = (SELECT id FROM name WHERE text = ?)
        """)
    let first = StoredRun.columnCount
    return try statement.rows([.text(name.text)] + arguments) { row in
      SeriesPoint(
        run: StoredRun(row).info,
        verdict: Verdict(stored: row.text(first)),
        metric: StoredMetric(row, from: first + 3).result(of: name, perIteration: row.integer(first + 1) != 0),
        approval: try row.optionalInteger(first + 2).map { try approvals.value($0) })
    }.reversed()
  }
}
