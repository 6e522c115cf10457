import FoundationEssentials
import GRDB
import GateCore

/// Inserts runs within one transaction.
struct RunWriter {
  private let db: Database
  private let insertRun: RawStatement
  private let insertScenario: RawStatement
  private let insertMetric: RawStatement
  private var names: [String: Int64] = [:]
  private var environments: SharedValues<EnvironmentInfo>
  private var approvals: SharedValues<Approval>

  init(_ db: Database) throws {
    func inserting(into table: String, _ columns: String) throws -> RawStatement {
      let marks = columns.split(separator: ",").map { _ in "?" }.joined(separator: ",")
      return try RawStatement(db, "INSERT INTO \(table) (\(columns)) VALUES (\(marks))")
    }
    self.db = db
    insertRun = try inserting(
      into: "run", "identifier, started_at, duration, commit_id, dirty, subject, branch_id, build_url, environment_id")
    insertScenario = try inserting(
      into: "scenario",
      """
      run_id, name_id, environment_id, tags_id, verdict, repetitions, growth_is_per_iteration, approval_id,
      failed_repetitions, explanation, anon, file, shmem, stack, heap, lazy_free, huge_pages
      """)
    insertMetric = try inserting(
      into: "metric",
      """
      scenario_id, name_id, median, low, high, count,
      verdict, baseline, baseline_count, change, allowed, limit_value
      """)
    environments = .environments(db)
    approvals = .approvals(db)
  }

  mutating func insert(_ summary: RunSummary) throws {
    let run = summary.run
    insertRun.bind(.text(run.id))
    insertRun.bind(.integer(run.startedAt.inMilliseconds))
    insertRun.bind(.integer(run.duration.nanoseconds))
    insertRun.bind(.text(run.commit))
    insertRun.bind(.integer(run.isDirty ? 1 : 0))
    insertRun.bind(.text(run.subject))
    insertRun.bind(.integer(try run.branch.map { try id(ofName: $0) }))
    insertRun.bind(.text(run.buildURL))
    insertRun.bind(.integer(try environments.id(of: summary.environment)))
    try insertRun.run()
    let runID = db.lastInsertedRowID
    for scenario in summary.scenarios { try insert(scenario, ofRun: runID) }
  }

  mutating func replace(_ stored: RunSummary, by summary: RunSummary) throws {
    try db.execute(sql: "DELETE FROM run WHERE identifier = ?", arguments: [stored.run.id])
    try Self.deleteUnusedRows(from: db)
    (names, environments, approvals) = ([:], .environments(db), .approvals(db))
    try insert(summary)
  }

  private mutating func insert(_ scenario: ScenarioSummary, ofRun runID: Int64) throws {
    insertScenario.bind(.integer(runID))
    insertScenario.bind(.integer(try id(ofName: scenario.name.text)))
    insertScenario.bind(.integer(try environments.id(of: scenario.environment)))
    insertScenario.bind(.integer(scenario.tags.isEmpty ? nil : try id(ofName: scenario.tags.joined(separator: ","))))
    insertScenario.bind(.text(scenario.verdict.rawValue))
    insertScenario.bind(.integer(Int64(scenario.repetitionCount)))
    insertScenario.bind(.integer(scenario.growthIsPerIteration ? 1 : 0))
    insertScenario.bind(.integer(try scenario.approval.map { try approvals.id(of: $0) }))
    let failed = scenario.failedRepetitions
    insertScenario.bind(.text(failed.isEmpty ? nil : try JSONColumn.encode(failed)))
    insertScenario.bind(.text(try scenario.explanation.map { try JSONColumn.encode($0) }))
    let parts = scenario.composition
    let amounts = [
      parts?.anonymous, parts?.file, parts?.shared, parts?.stack, parts?.heap, parts?.lazilyFreed, parts?.hugePages,
    ]
    for amount in amounts { insertScenario.bind(.integer(amount?.count)) }
    try insertScenario.run()
    let scenarioID = db.lastInsertedRowID
    for metric in scenario.metrics { try insert(metric, ofScenario: scenarioID) }
    for metric in scenario.ungated { try insert(metric, ofScenario: scenarioID) }
  }

  private mutating func insert(_ metric: MetricResult, ofScenario scenarioID: Int64) throws {
    insertMetric.bind(.integer(scenarioID))
    insertMetric.bind(.integer(try id(ofName: StoredMetricName(of: metric).text)))
    insertMetric.bind(.number(metric.current?.median))
    insertMetric.bind(.number(metric.current?.range?.lowerBound))
    insertMetric.bind(.number(metric.current?.range?.upperBound))
    insertMetric.bind(.integer(metric.current.map { Int64($0.count) }))
    insertMetric.bind(.text(metric.isGated ? metric.verdict.rawValue : nil))
    insertMetric.bind(.number(metric.baseline?.median))
    insertMetric.bind(.integer(metric.baseline.map { Int64($0.count) }))
    insertMetric.bind(.number(metric.change?.absolute))
    insertMetric.bind(.number(metric.allowed))
    insertMetric.bind(.number(metric.rule.limit?.value))
    try insertMetric.run()
  }

  private mutating func id(ofName text: String) throws -> Int64 {
    if let id = names[text] { return id }
    let known = try Int64.fetchOne(try db.cachedStatement(sql: "SELECT id FROM name WHERE text = ?"), arguments: [text])
    if known == nil { try db.cachedStatement(sql: "INSERT INTO name (text) VALUES (?)").execute(arguments: [text]) }
    let id = known ?? db.lastInsertedRowID
    names[text] = id
    return id
  }

  /// Deletes names, environments and approvals that no run refers to any more.
  static func deleteUnusedRows(from db: Database) throws {
    try db.execute(
      sql: """
        DELETE FROM approval WHERE id NOT IN (SELECT approval_id FROM scenario WHERE approval_id IS NOT NULL);
        DELETE FROM environment
          WHERE id NOT IN (SELECT environment_id FROM scenario UNION SELECT environment_id FROM run);
        DELETE FROM name WHERE id NOT IN (
          SELECT name_id FROM scenario UNION SELECT name_id FROM metric
          UNION SELECT branch_id FROM run WHERE branch_id IS NOT NULL
          UNION SELECT tags_id FROM scenario WHERE tags_id IS NOT NULL);
        """)
  }
}
