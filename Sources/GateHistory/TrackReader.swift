import GRDB
import GateCore

/// What a history has at one instant, by the ids of its tables' rows.
struct TrackIndex: Sendable {
  let inventory: TrendInventory
  /// By name.
  let scenarios: [(id: Int64, name: ScenarioName)]
  /// Where rows are in the inventory.
  let runs: [Int64: Int]
  let environments: [Int64: Int]
  let approvals: [Int64: Int]

  init(_ db: Database) throws {
    let reader = RunReader(db)
    func places(_ ids: [Int64]) -> [Int64: Int] { Dictionary(uniqueKeysWithValues: zip(ids, 0...)) }
    let environmentIDs = try Int64.fetchAll(db, sql: "SELECT id FROM environment ORDER BY id")
    let approvalIDs = try Int64.fetchAll(db, sql: "SELECT id FROM approval ORDER BY id")
    let runRows = try reader.allRows()
    inventory = TrendInventory(
      runs: runRows.map { RunInfo($0) },
      environments: try environmentIDs.map(reader.environment),
      approvals: try approvalIDs.map(reader.approval)
    )
    runs = places(runRows.map { $0["id"] })
    environments = places(environmentIDs)
    approvals = places(approvalIDs)
    scenarios = try Row.fetchAll(
      db, sql: "SELECT id, text FROM name WHERE id IN (SELECT name_id FROM scenario) ORDER BY text"
    ).map { ($0["id"], ScenarioName($0["text"])) }
  }
}

/// Reads what a history has of one scenario, as far as the index knows of it: runs that came later are left out.
struct TrackReader {
  private let db: Database
  private let index: TrackIndex

  init(_ db: Database, _ index: TrackIndex) {
    self.db = db
    self.index = index
  }

  /// All that the history has of one scenario.
  func track(of scenario: (id: Int64, name: ScenarioName)) throws -> ScenarioTrack {
    let (id, name) = scenario
    var rows = try scenarioRows(id)
    rows.sort { $0.row.run < $1.row.run }
    let places = Dictionary(uniqueKeysWithValues: zip(rows.map(\.id), 0...))
    try readTroubles(id, places) { place, trouble in rows[place].row.troubles.append(trouble) }
    return ScenarioTrack(name: name, rows: rows.map(\.row), columns: try columns(id, places))
  }

  private func scenarioRows(_ name: Int64) throws -> [(id: Int64, row: ScenarioTrack.Row)] {
    let statement = try raw(
      """
      SELECT scenario.id, run_id, environment_id, verdict, growth_is_per_iteration, approval_id, tags.text,
        anon, file, shmem, stack, heap, lazy_free, huge_pages
      FROM scenario LEFT JOIN name AS tags ON tags.id = tags_id WHERE name_id = ?
      """, of: name)
    var rows: [(id: Int64, row: ScenarioTrack.Row)] = []
    while try statement.step() {
      guard let run = index.runs[statement.integer(1)], let environment = index.environments[statement.integer(2)]
      else { continue }
      let row = ScenarioTrack.Row(
        run: run,
        environment: environment,
        verdict: Verdict(statement.textIfAny(3) ?? ""),
        growthIsPerIteration: statement.integer(4) != 0,
        tags: statement.textIfAny(6)?.split(separator: ",").map(String.init) ?? [],
        approval: statement.integerIfAny(5).flatMap { index.approvals[$0] },
        composition: composition(in: statement, from: 7)
      )
      rows.append((statement.integer(0), row))
    }
    return rows
  }

  private func composition(in statement: RawStatement, from first: Int32) -> Composition? {
    func amount(_ column: Int32) -> Bytes? { statement.integerIfAny(first + column).map { Bytes($0) } }
    guard let anonymous = amount(0) else { return nil }
    return Composition(
      anonymous: anonymous, file: amount(1) ?? .zero, shared: amount(2) ?? .zero, stack: amount(3), heap: amount(4),
      lazilyFreed: amount(5), hugePages: amount(6)
    )
  }

  private func columns(_ name: Int64, _ places: [Int64: Int]) throws -> [ScenarioTrack.Column] {
    let statement = try raw(
      """
      SELECT metric.scenario_id, metric.name_id, median, low, high, metric.verdict, baseline, change, allowed,
        limit_bytes
      FROM scenario CROSS JOIN metric ON metric.scenario_id = scenario.id WHERE scenario.name_id = ?
      """, of: name)
    var columns: [Int64: [MetricCourse.Point?]] = [:]
    var (scenario, place): (Int64, Int?) = (-1, nil)
    while try statement.step() {
      let id = statement.integer(0)
      if id != scenario { (scenario, place) = (id, places[id]) }
      guard let place, let point = point(in: statement) else { continue }
      let metric = statement.integer(1)
      columns[metric, default: Array(repeating: nil, count: places.count)][place] = point
    }
    return try columns.map { id, points in
      let text = try String.fetchOne(db, sql: "SELECT text FROM name WHERE id = ?", arguments: [id]) ?? ""
      return ScenarioTrack.Column(metric: MetricName(text), points: points)
    }
  }

  /// A figure; nil where that run has none.
  private func point(in statement: RawStatement) -> MetricCourse.Point? {
    guard let median = statement.numberIfAny(2) else { return nil }
    let judgement = statement.textIfAny(5).map { verdict in
      MetricRecord.Judgement(
        verdict: Verdict(verdict), baseline: statement.numberIfAny(6), change: statement.numberIfAny(7),
        allowed: statement.numberIfAny(8), limit: statement.integerIfAny(9).map { Bytes($0) }
      )
    }
    return MetricCourse.Point(
      median: median, low: statement.numberIfAny(3) ?? median, high: statement.numberIfAny(4) ?? median,
      judgement: judgement
    )
  }

  private func readTroubles(
    _ name: Int64,
    _ places: [Int64: Int],
    _ add: (Int, ScenarioRecord.Trouble) -> Void
  ) throws {
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT trouble.* FROM scenario JOIN trouble ON trouble.scenario_id = scenario.id WHERE scenario.name_id = ?
        ORDER BY trouble.scenario_id, repetition
        """, arguments: [name])
    while let row = try rows.next() {
      if let place = places[row["scenario_id"]] { add(place, ScenarioRecord.Trouble(row)) }
    }
  }

  private func raw(_ sql: String, of name: Int64) throws -> RawStatement {
    let statement = RawStatement(try db.makeStatement(sql: sql))
    statement.bind(name, at: 1)
    return statement
  }
}
