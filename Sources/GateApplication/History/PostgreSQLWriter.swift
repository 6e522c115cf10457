import GateCore

/// Inserts runs of one project within one transaction, with few statements for any number of runs.
struct PostgreSQLWriter {
  private let connection: PostgreSQLConnection
  private let project: (id: Int64, name: String)

  init(_ connection: PostgreSQLConnection, project: (id: Int64, name: String)) {
    (self.connection, self.project) = (connection, project)
  }

  func append(_ runs: [RunSummary]) throws -> History.Additions {
    var seen: Set<String> = []
    let added = try insert(runs.filter { seen.insert($0.run.id).inserted })
    var additions = History.Additions()
    additions.added = added.count
    var rest = added
    try addKnown(runs.filter { rest.remove($0.run.id) == nil }, to: &additions)
    return additions
  }

  /// Compares runs with those that are stored under their IDs.
  private func addKnown(_ runs: [RunSummary], to additions: inout History.Additions) throws {
    if runs.isEmpty { return }
    let reader = PostgreSQLReader(connection, project: project.id)
    func stored() throws -> [String: RunSummary] {
      let stored = try reader.runs(withIdentifiers: Set(runs.map(\.run.id)))
      return Dictionary(stored.map { ($0.run.id, $0) }, uniquingKeysWith: { $1 })
    }
    var known = try stored()
    if runs.contains(where: { $0 != known[$0.run.id] }) {
      // Of two writers that both replace a run, the second must see what the first has stored.
      try connection.run("SELECT pg_advisory_xact_lock(\(project.id))")
      known = try stored()
    }
    for run in runs {
      guard let old = known[run.run.id], additions.addKnown(run, stored: old) else { continue }
      try delete(run.run.id)
      _ = try insert([run])
      known[run.run.id] = run
    }
  }

  private func delete(_ identifier: String) throws {
    try connection.run(
      """
      WITH old AS (DELETE FROM run WHERE project_id = \(project.id) AND identifier = $1 RETURNING id, started_at)
      DELETE FROM scenario USING old
      WHERE scenario.project_id = \(project.id) AND scenario.started_at = old.started_at AND scenario.run_id = old.id
      """, [identifier])
  }

  /// Removes all runs but these; returns how many.
  func prune(keeping retention: History.Retention) throws -> Int {
    let condition =
      switch retention {
      case .since(let date): "started_at < \(date.inMilliseconds)"
      case .latest(let count):
        """
        id NOT IN (
          SELECT id FROM run WHERE project_id = \(project.id)
          ORDER BY started_at DESC, identifier DESC LIMIT \(max(0, count)))
        """
      }
    let rows = try connection.run(
      """
      WITH old AS (DELETE FROM run WHERE project_id = \(project.id) AND \(condition) RETURNING id, started_at),
      rest AS (
        DELETE FROM scenario USING old
        WHERE scenario.project_id = \(project.id) AND scenario.started_at = old.started_at
          AND scenario.run_id = old.id)
      SELECT count(*) FROM old
      """)
    return Int(rows.map { $0.integer(0) }.first ?? 0)
  }

  // MARK: Inserting

  /// Inserts runs with different IDs, but for those that are stored; returns the IDs of the others.
  private func insert(_ runs: [RunSummary]) throws -> Set<String> {
    if runs.isEmpty { return [] }
    var values = StoredValues()
    var runRows = RowArrays(StoredRun.writtenColumns)
    var scenarioRows = RowArrays(["identifier", "id"] + StoredScenario.writtenColumns + ["metrics"])
    for summary in runs {
      let environment = try values.id(of: summary.environment)
      let branch = summary.run.branch.map { values.id(of: $0, .branch) }
      runRows.append(StoredRun.values(of: summary.run, branch: branch, environment: environment))
      for (number, scenario) in summary.scenarios.enumerated() {
        let ids = StoredScenario.References(
          name: values.id(of: scenario.name.text, .scenario),
          environment: try values.id(of: scenario.environment),
          tags: scenario.tags.isEmpty ? nil : values.id(of: scenario.tags.joined(separator: ","), .tags),
          approval: try scenario.approval.map { try values.id(of: JSONColumn.encode($0), .approval) })
        scenarioRows.append(
          [.text(summary.run.id), .integer(Int64(number))] + (try StoredScenario.values(of: scenario, ids))
            + [.text(try MetricsColumn.encode(scenario.metrics + scenario.ungated))])
      }
    }
    try insert(values)
    return try insert(runRows, scenarioRows)
  }

  /// In one order for all writers, so that they do not wait for each other in a circle.
  private func insert(_ values: StoredValues) throws {
    try connection.run(
      """
      WITH known AS (INSERT INTO project (id, name) VALUES (\(project.id), $5) ON CONFLICT DO NOTHING)
      INSERT INTO value (project_id, id, kind, name_id, text)
      SELECT \(project.id), new.* FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])
        AS new (id, kind, name_id, text)
      ORDER BY kind, id ON CONFLICT DO NOTHING
      """, values.rows.parameters + [project.name])
  }

  private func insert(_ runs: RowArrays, _ scenarios: RowArrays) throws -> Set<String> {
    let (runColumns, scenarioColumns) = (runs.columns.joined(separator: ", "), scenarios.columns.dropFirst())
    let added = try connection.run(
      """
      WITH added AS (
        INSERT INTO run (project_id, \(runColumns))
        SELECT \(project.id), new.* FROM \(runs.unnested(from: 1)) AS new (\(runColumns))
        ORDER BY identifier ON CONFLICT (project_id, identifier) DO NOTHING RETURNING id, identifier, started_at
      ), details AS (
        INSERT INTO scenario (project_id, started_at, run_id, \(scenarioColumns.joined(separator: ", ")))
        SELECT \(project.id), added.started_at, added.id, \(scenarioColumns.map { "new.\($0)" }.joined(separator: ", "))
        FROM \(scenarios.unnested(from: runs.columns.count + 1)) AS new (\(scenarios.columns.joined(separator: ", ")))
        JOIN added USING (identifier)
      )
      SELECT identifier FROM added
      """, runs.parameters + scenarios.parameters)
    return Set(added.map { $0.text(0) })
  }
}

/// The values that rows refer to, each once.
private struct StoredValues {
  private(set) var rows = RowArrays(["id", "kind", "name_id", "text"])
  private var known: Set<String> = []
  private var environments: [EnvironmentInfo: Int64] = [:]

  mutating func id(of text: String, _ kind: PostgreSQLSchema.Kind, named name: String? = nil) -> Int64 {
    let id = StoredHash.id(of: text)
    if known.insert("\(kind.rawValue) \(id)").inserted {
      rows.append([.integer(id), .text(kind.rawValue), .integer(name.map(StoredHash.id)), .text(text)])
    }
    return id
  }

  mutating func id(of environment: EnvironmentInfo) throws -> Int64 {
    if let id = environments[environment] { return id }
    let id = id(of: try JSONColumn.encode(environment), .environment, named: environment.name)
    environments[environment] = id
    return id
  }
}

/// Rows as one array for each column.
private struct RowArrays {
  let columns: [String]
  private var arrays: [ArrayLiteral]

  /// The types of the columns that are not `bigint`.
  private static let types = [
    "identifier": "text", "commit_id": "text", "dirty": "integer", "subject": "text", "build_url": "text",
    "id": "bigint", "verdict": "text", "repetitions": "integer", "growth_is_per_iteration": "integer",
    "failed_repetitions": "text", "explanation": "text", "metrics": "json",
  ]

  init(_ columns: [String]) {
    self.columns = columns
    arrays = columns.map { _ in ArrayLiteral() }
  }

  mutating func append(_ row: [StoredValue]) {
    for (column, value) in row.enumerated() { arrays[column].append(value) }
  }

  var parameters: [String] { arrays.map(\.text) }

  /// The rows as a table, from the parameters with this number and those after it.
  func unnested(from first: Int) -> String {
    let arrays = zip(first..., columns).map { "$\($0)::\(Self.types[$1] ?? "bigint")[]" }
    return "unnest(\(arrays.joined(separator: ", ")))"
  }
}
