import GateCore

/// Reads the runs of one project within one transaction.
final class PostgreSQLReader: HistoryReader {
  private let connection: PostgreSQLConnection
  private let project: Int64
  private var names: StoredNames
  private var tags: StoredNames
  private var environments: StoredJSON<EnvironmentInfo>
  private var approvals: StoredJSON<Approval>

  /// How many runs are read at once.
  private static let runsAtOnce = 200
  /// How many scenario runs are read at once, at about 1 KB each.
  private static let rowsAtOnce = 5000

  init(_ connection: PostgreSQLConnection, project: Int64) {
    (self.connection, self.project) = (connection, project)
    func find(_ kind: PostgreSQLSchema.Kind) -> (Int64) throws -> String? {
      { id in
        try connection.run(
          "SELECT text FROM value WHERE project_id = \(project) AND kind = '\(kind.rawValue)' AND id = \(id)"
        ).map { $0.text(0) }.first
      }
    }
    (names, tags) = (StoredNames(find(.scenario)), StoredNames(find(.tags)))
    (environments, approvals) = (StoredJSON(find(.environment)), StoredJSON(find(.approval)))
  }

  func isEmpty() throws -> Bool {
    try connection.run("SELECT 1 FROM run WHERE project_id = \(project) LIMIT 1").count == 0
  }

  // MARK: Whole runs

  private var selectRuns: String {
    """
    SELECT \(StoredRun.columns) FROM run
    LEFT JOIN value AS branch
      ON branch.project_id = run.project_id AND branch.kind = 'branch' AND branch.id = run.branch_id
    WHERE run.project_id = \(project)
    """
  }

  func forEachRun(_ body: (RunSummary) -> Void) throws {
    try forEach("\(selectRuns) ORDER BY run.started_at, run.identifier", atOnce: Self.runsAtOnce) { rows in
      for run in try summaries(of: rows.map { StoredRun($0) }) { body(run) }
    }
  }

  func runs(latest: Int, of scenarios: [ScenarioName]) throws -> [RunSummary] {
    let ids = scenarios.map { StoredHash.id(of: $0.text) }
    let condition =
      ids.isEmpty
      ? ""
      : """
      AND EXISTS (
        SELECT FROM scenario WHERE scenario.project_id = \(project) AND scenario.started_at = run.started_at
          AND scenario.run_id = run.id AND scenario.name_id = ANY (\(Self.array(ids))))
      """
    let rows = try connection.run(
      "\(selectRuns) \(condition) ORDER BY run.started_at DESC, run.identifier DESC LIMIT \(max(0, latest))")
    return try summaries(of: rows.map { StoredRun($0) }.reversed())
  }

  func runs(withIdentifiers identifiers: some Sequence<String>) throws -> [RunSummary] {
    var array = ArrayLiteral()
    for identifier in identifiers { array.append(.text(identifier)) }
    let rows = try connection.run("\(selectRuns) AND run.identifier = ANY ($1::text[])", [array.text])
    return try summaries(of: rows.map { StoredRun($0) })
  }

  private func summaries(of runs: [StoredRun]) throws -> [RunSummary] {
    var scenarios: [Int64: [ScenarioSummary]] = [:]
    for start in stride(from: 0, to: runs.count, by: Self.runsAtOnce) {
      for (run, scenario) in try self.scenarios(of: runs[start..<min(start + Self.runsAtOnce, runs.count)]) {
        scenarios[run, default: []].append(scenario)
      }
    }
    return try runs.map { run in
      RunSummary(
        run: run.info, environment: try environments.value(run.environment), scenarios: scenarios[run.id] ?? [])
    }
  }

  private func scenarios(of runs: ArraySlice<StoredRun>) throws -> [(run: Int64, summary: ScenarioSummary)] {
    let times = runs.map(\.info.startedAt.inMilliseconds)
    let rows = try connection.run(
      """
      SELECT \(StoredScenario.columns), metrics FROM scenario WHERE project_id = \(project)
        AND started_at BETWEEN \(times.min() ?? 0) AND \(times.max() ?? 0)
        AND run_id = ANY (\(Self.array(runs.map(\.id)))) ORDER BY run_id, id
      """)
    return try rows.map { row in
      let scenario = try StoredScenario(row)
      return (scenario.run, try summary(of: scenario, row))
    }
  }

  private func summary(of scenario: StoredScenario, _ row: PostgreSQLRow) throws -> ScenarioSummary {
    var metrics: [(name: StoredMetricName, metric: StoredMetric)] = []
    try row.withBytes(StoredScenario.columnCount) { text in
      try MetricsColumn.decode(text) { metrics.append((StoredMetricName(text: $0), $1)) }
    }
    return scenario.summary(
      name: try names.text(scenario.name), tags: try tags.tags(scenario.tags),
      environment: try environments.value(scenario.environment),
      approval: try scenario.approval.map { try approvals.value($0) }, metrics: metrics)
  }

  // MARK: One scenario

  /// The rows of a scenario's runs, the latest first.
  private func rows(
    _ columns: String, in selection: History.Selection, where condition: String = "true"
  ) throws -> PostgreSQLRows {
    var conditions = ["scenario.name_id = \(StoredHash.id(of: selection.scenario.text))", condition]
    if case .named(let branch) = selection.branch {
      conditions.append(branch.map { "run.branch_id = \(StoredHash.id(of: $0))" } ?? "run.branch_id IS NULL")
    }
    if let environment = selection.environment {
      conditions.append(
        """
        scenario.environment_id IN (SELECT id FROM value WHERE project_id = \(project) AND kind = 'environment'
          AND name_id = \(StoredHash.id(of: environment)))
        """)
    }
    return try connection.run(
      """
      SELECT \(columns) FROM run
      JOIN scenario ON scenario.project_id = \(project) AND scenario.started_at = run.started_at
        AND scenario.run_id = run.id
      LEFT JOIN value AS branch
        ON branch.project_id = run.project_id AND branch.kind = 'branch' AND branch.id = run.branch_id
      WHERE run.project_id = \(project) AND \(conditions.joined(separator: " AND "))
      ORDER BY run.started_at DESC, run.identifier DESC
      \(selection.latest.map { "LIMIT \(max(0, $0))" } ?? "")
      """)
  }

  func verdicts(in selection: History.Selection) throws -> [Verdict] {
    try rows("scenario.verdict", in: selection).map { Verdict(stored: $0.text(0)) }.reversed()
  }

  func findings(in selection: History.Selection) throws -> [StoredFinding] {
    let columns = "\(StoredRun.columns), scenario.approval_id, scenario.explanation"
    let first = StoredRun.columnCount
    return try rows(columns, in: selection).map { row in
      let explanation = try row.optionalText(first + 1).flatMap(RiseExplanation.init(stored:))
      let approval = try row.optionalInteger(first).map { try approvals.value($0) }
      return explanation.map { StoredFinding(run: StoredRun(row).info, approval: approval, finding: $0.finding) }
    }.compactMap(\.self).reversed()
  }

  func points(of metric: StoredMetricName, in selection: History.Selection) throws -> [SeriesPoint] {
    let value = "scenario.metrics -> \(Self.literal(metric.text))"
    let columns = """
      \(StoredRun.columns), scenario.verdict, scenario.growth_is_per_iteration, scenario.approval_id, \(value)
      """
    let first = StoredRun.columnCount
    return try rows(columns, in: selection, where: "\(value) ->> 0 IS NOT NULL").map { row in
      let stored = try row.withBytes(first + 3, MetricsColumn.metric) ?? StoredMetric()
      return SeriesPoint(
        run: StoredRun(row).info,
        verdict: Verdict(stored: row.text(first)),
        metric: stored.result(of: metric, perIteration: row.integer(first + 1) != 0),
        approval: try row.optionalInteger(first + 2).map { try approvals.value($0) })
    }.reversed()
  }

  // MARK: The trend

  func trendIndex() throws -> TrendIndex {
    var runs: [StoredRun] = []
    try forEach("\(selectRuns) ORDER BY run.started_at, run.identifier", atOnce: Self.rowsAtOnce) { rows in
      runs += rows.map { StoredRun($0) }
    }
    return TrendIndex(
      runs: runs,
      environments: try values(.environment).map {
        ($0.id, try JSONColumn.decode(EnvironmentInfo.self, from: $0.text))
      },
      approvals: try values(.approval).map { ($0.id, try JSONColumn.decode(Approval.self, from: $0.text)) },
      scenarios: try values(.scenario).map { ($0.id, ScenarioName($0.text)) })
  }

  /// In the order of their texts, as SQLite sorts them.
  private func values(_ kind: PostgreSQLSchema.Kind) throws -> [(id: Int64, text: String)] {
    try connection.run(
      """
      SELECT id, text FROM value WHERE project_id = \(project) AND kind = '\(kind.rawValue)' ORDER BY text COLLATE "C"
      """
    ).map { ($0.integer(0), $0.text(1)) }
  }

  func histories(of scenarios: Range<Int>, in index: TrendIndex) throws -> [ScenarioHistory] {
    var builder = ScenarioHistoryBuilder<String>(scenarios, of: index)
    let isAll = scenarios.count == index.scenarios.count
    let condition = isAll ? "" : "AND name_id = ANY (\(Self.array(index.scenarios[scenarios].map(\.id))))"
    let query = """
      SELECT \(StoredScenario.columns), metrics FROM scenario
      WHERE project_id = \(project) AND started_at >= \(index.oldest) \(condition)
      """
    try forEach(query, atOnce: Self.rowsAtOnce) { rows in
      try rows.forEach { row in
        let scenario = try StoredScenario(row)
        guard let place = builder.add(scenario, tags: try tags.tags(scenario.tags)) else { return }
        try row.withBytes(StoredScenario.columnCount) { text in
          try MetricsColumn.decode(text) { name, metric in
            builder.add(metric, of: name, at: place) { StoredMetricName(text: name) }
          }
        }
      }
    }
    return builder.histories
  }

  // MARK: Statements

  /// Runs a query with any number of rows, of which only some are in memory.
  private func forEach(_ query: String, atOnce count: Int, _ body: (PostgreSQLRows) throws -> Void) throws {
    try connection.run("DECLARE rows NO SCROLL CURSOR FOR \(query)")
    while true {
      let rows = try connection.run("FETCH \(count) FROM rows")
      try body(rows)
      if rows.count < count { break }
    }
    try connection.run("CLOSE rows")
  }

  private static func array(_ numbers: [Int64]) -> String {
    "'{\(numbers.map { "\($0)" }.joined(separator: ","))}'::bigint[]"
  }

  /// A text in a statement, as an expression that needs no quotes.
  private static func literal(_ text: String) -> String {
    let digits = text.utf8.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0\(digits)" : digits
    }
    return "convert_from(decode('\(digits.joined())', 'hex'), 'UTF8')"
  }
}

/// An array as a text that PostgreSQL reads.
struct ArrayLiteral {
  private var items: [String] = []

  var text: String { "{\(items.joined(separator: ","))}" }

  mutating func append(_ value: StoredValue) {
    switch value {
    case .integer(let number?): items.append("\(number)")
    case .number(let number?) where number.isFinite: items.append("\(number)")
    case .text(let text?):
      items.append("\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"")
    case .integer, .number, .text: items.append("NULL")
    }
  }
}
