import FoundationEssentials
import GRDB
import GateCore

/// Puts runs into the tables, within one transaction: ids that it has learnt may be gone after it.
final class RunWriter {
  private let db: Database
  private let insertRun: Statement
  private let insertScenario: Statement
  private let metricRow: MetricRow
  private let insertTrouble: Statement
  private var names: [String: Int64] = [:]
  private var environments: [(info: EnvironmentInfo, id: Int64)] = []
  private var approvals: [(approval: Baseline.Approval, id: Int64)] = []

  init(_ db: Database) throws {
    self.db = db
    func inserting(into table: String, _ columns: String) throws -> Statement {
      let marks = columns.split(separator: ",").map { _ in "?" }.joined(separator: ",")
      return try db.makeStatement(sql: "INSERT INTO \(table) (\(columns)) VALUES (\(marks))")
    }
    insertRun = try inserting(
      into: "run", "identifier, started_at, duration, commit_id, subject, branch_id, build_url, environment_id, verdict"
    )
    insertScenario = try inserting(
      into: "scenario",
      """
      run_id, name_id, tags_id, environment_id, verdict, repetitions, growth_is_per_iteration, approval_id,
      anon, file, shmem, stack, heap, lazy_free, huge_pages
      """)
    metricRow = MetricRow(
      try inserting(
        into: "metric",
        "scenario_id, name_id, median, low, high, count, verdict, baseline, change, allowed, limit_bytes"))
    insertTrouble = try inserting(
      into: "trouble", "scenario_id, repetition, kind, code, signal, proof, detail, oom_kills")
  }

  func insert(_ record: RunRecord) throws {
    let run = record.run
    try insertRun.execute(arguments: [
      run.id, run.startedAt.inMilliseconds, run.duration.nanoseconds, run.commit, run.subject,
      try run.branch.map(id(ofName:)), run.buildURL, try id(of: record.environment), record.verdict.rawValue,
    ])
    let runID = db.lastInsertedRowID
    for scenario in record.scenarios { try insert(scenario, ofRun: runID) }
  }

  func replace(_ kept: RunRecord, by record: RunRecord) throws {
    try db.execute(sql: "DELETE FROM run WHERE identifier = ?", arguments: [kept.run.id])
    try Self.removeOrphans(from: db)
    forget()
    try insert(record)
  }

  private func insert(_ scenario: ScenarioRecord, ofRun runID: Int64) throws {
    let parts = scenario.composition
    try insertScenario.execute(arguments: [
      runID, try id(ofName: scenario.name.text), try tags(of: scenario), try id(of: scenario.environment),
      scenario.verdict.rawValue,
      scenario.repetitions, scenario.growthIsPerIteration, try scenario.approval.map(id(of:)),
      parts?.anonymous.count, parts?.file.count, parts?.shared.count, parts?.stack?.count, parts?.heap?.count,
      parts?.lazilyFreed?.count, parts?.hugePages?.count,
    ])
    let scenarioID = db.lastInsertedRowID
    for record in scenario.metrics {
      let name = MetricRecord.nameInHistory(of: record.metric, reported: record.reported)
      try metricRow.insert(record, metric: try id(ofName: name), scenario: scenarioID)
    }
    for trouble in scenario.troubles {
      let end = trouble.end
      try insertTrouble.execute(arguments: [
        scenarioID, trouble.repetition, end.kind.rawValue, end.code, end.signal?.number, end.proofLine, end.causeText,
        end.oomKills,
      ])
    }
  }

  // MARK: What stands once

  private func tags(of scenario: ScenarioRecord) throws -> Int64? {
    scenario.tags.isEmpty ? nil : try id(ofName: scenario.tags.joined(separator: ","))
  }

  private func id(ofName text: String) throws -> Int64 {
    if let known = names[text] { return known }
    let id =
      try found("SELECT id FROM name WHERE text = ?", [text])
      ?? inserted("INSERT INTO name (text) VALUES (?)", [text])
    names[text] = id
    return id
  }

  private func id(of environment: EnvironmentInfo) throws -> Int64 {
    if let known = environments.first(where: { $0.info == environment }) { return known.id }
    let columns = EnvironmentColumns.values(of: environment)
    let id =
      try found("SELECT id FROM environment WHERE \(EnvironmentColumns.comparison)", columns)
      ?? inserted(EnvironmentColumns.insertion, columns)
    environments.append((environment, id))
    return id
  }

  private func id(of approval: Baseline.Approval) throws -> Int64 {
    if let known = approvals.first(where: { $0.approval == approval }) { return known.id }
    let columns: StatementArguments = [
      approval.at.inMilliseconds, approval.by, approval.commit, approval.reason, approval.run,
    ]
    let id =
      try found(
        """
        SELECT id FROM approval WHERE approved_at IS ? AND approved_by IS ? AND commit_id IS ? AND reason IS ?
        AND of_run IS ?
        """, columns)
      ?? inserted(
        "INSERT INTO approval (approved_at, approved_by, commit_id, reason, of_run) VALUES (?, ?, ?, ?, ?)", columns)
    approvals.append((approval, id))
    // Of thousands of approvals only the latest come again.
    if approvals.count > 200 { approvals.removeFirst(100) }
    return id
  }

  private func found(_ sql: String, _ arguments: StatementArguments) throws -> Int64? {
    try Int64.fetchOne(try db.cachedStatement(sql: sql), arguments: arguments)
  }

  private func inserted(_ sql: String, _ arguments: StatementArguments) throws -> Int64 {
    try db.cachedStatement(sql: sql).execute(arguments: arguments)
    return db.lastInsertedRowID
  }

  private func forget() {
    names = [:]
    environments = []
    approvals = []
  }

  /// Removes what no run names any more.
  static func removeOrphans(from db: Database) throws {
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

/// How an environment lies in its table.
enum EnvironmentColumns {
  private static let names = [
    "name", "architecture", "page_size", "cpus", "aslr", "thp", "measurement", "memory_limit", "kernel", "libc",
    "allocator", "swap", "environment_hash", "ignored", "counter_bound", "counter_difference",
  ]

  static let comparison = names.map { "\($0) IS ?" }.joined(separator: " AND ")

  static let insertion = """
    INSERT INTO environment (\(names.joined(separator: ", ")))
    VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
    """

  static func values(of environment: EnvironmentInfo) -> StatementArguments {
    let print = environment.fingerprint
    return [
      environment.name, print.architecture, print.pageSize, print.cpus, print.aslr, print.thp, print.measurement,
      print.memoryLimit?.count, print.kernel, print.libc, print.allocator, print.swap, print.environmentHash,
      environment.ignoredFields.sorted().map(\.rawValue).joined(separator: ","),
      environment.counters?.bound.count, environment.counters?.difference.count,
    ]
  }

  static func environment(in row: Row) -> EnvironmentInfo {
    let fingerprint = Fingerprint(
      architecture: row["architecture"], pageSize: row["page_size"], cpus: row["cpus"], aslr: row["aslr"],
      thp: row["thp"], measurement: row["measurement"],
      memoryLimit: (row["memory_limit"] as Int64?).map { Bytes($0) },
      kernel: row["kernel"], libc: row["libc"], allocator: row["allocator"], swap: row["swap"],
      environmentHash: row["environment_hash"]
    )
    let ignored: String = row["ignored"]
    let (bound, difference): (Int64?, Int64?) = (row["counter_bound"], row["counter_difference"])
    return EnvironmentInfo(
      name: row["name"],
      fingerprint: fingerprint,
      ignoredFields: Set(ignored.split(separator: ",").compactMap { Fingerprint.Field(rawValue: String($0)) }),
      counters: bound.map { CounterCheck(bound: Bytes($0), difference: Bytes(difference ?? 0)) }
    )
  }
}
