import GRDB
import GateCore

/// Inserts runs within one transaction.
struct SQLiteWriter {
  private let db: Database
  private let insertRun: RawStatement
  private let insertScenario: RawStatement
  private let insertMetric: RawStatement
  private var references: SQLiteReferences

  init(_ db: Database) throws {
    func inserting(into table: String, _ columns: [String]) throws -> RawStatement {
      let marks = columns.map { _ in "?" }.joined(separator: ",")
      return try RawStatement(db, "INSERT INTO \(table) (\(columns.joined(separator: ","))) VALUES (\(marks))")
    }
    self.db = db
    insertRun = try inserting(into: "run", StoredRun.writtenColumns)
    insertScenario = try inserting(into: "scenario", ["run_id"] + StoredScenario.writtenColumns)
    insertMetric = try inserting(into: "metric", ["scenario_id", "name_id"] + StoredMetric.columns)
    references = SQLiteReferences(db)
  }

  mutating func insert(_ summary: RunSummary) throws {
    let branch = try summary.run.branch.map { try references.id(ofName: $0) }
    let environment = try references.id(of: summary.environment)
    try insertRun.run(StoredRun.values(of: summary.run, branch: branch, environment: environment))
    let id = db.lastInsertedRowID
    for scenario in summary.scenarios { try insert(scenario, ofRun: id) }
  }

  mutating func replace(_ stored: RunSummary, by summary: RunSummary) throws {
    try db.execute(sql: "DELETE FROM run WHERE identifier = ?", arguments: [stored.run.id])
    try Self.deleteUnusedRows(from: db)
    references = SQLiteReferences(db)
    try insert(summary)
  }

  private mutating func insert(_ scenario: ScenarioSummary, ofRun run: Int64) throws {
    let ids = StoredScenario.References(
      name: try references.id(ofName: scenario.name.text),
      environment: try references.id(of: scenario.environment),
      tags: scenario.tags.isEmpty ? nil : try references.id(ofName: scenario.tags.joined(separator: ",")),
      approval: try scenario.approval.map { try references.id(of: $0) })
    try insertScenario.run([.integer(run)] + StoredScenario.values(of: scenario, ids))
    let id = db.lastInsertedRowID
    for metric in scenario.metrics + scenario.ungated {
      let name = try references.id(ofName: StoredMetricName(of: metric).text)
      try insertMetric.run([.integer(id), .integer(name)] + StoredMetric(metric).values)
    }
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
