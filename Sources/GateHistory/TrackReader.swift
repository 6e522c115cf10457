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

/// Reads what a history has of some scenarios, in one pass through its tables: each run has some rows of all of them, so
/// that a pass for each scenario would read the whole file as often.
struct TrackReader {
  private let db: Database
  private let index: TrackIndex
  private var tracks: [ScenarioTrack]
  /// Where a row of the table `scenario` is: which track, which of its rows.
  private var places: [Int64: (track: Int, row: Int)] = [:]

  /// Of the index's scenarios those in the range are read.
  init(_ db: Database, _ index: TrackIndex, scenarios: Range<Int>) throws {
    self.db = db
    self.index = index
    tracks = index.scenarios[scenarios].map { ScenarioTrack(name: $0.name, rows: [], columns: []) }
    let numbers = Dictionary(uniqueKeysWithValues: zip(index.scenarios[scenarios].map(\.id), 0...))
    for (track, rows) in try scenarioRows(numbers).enumerated() {
      let rows = rows.sorted { $0.row.run < $1.row.run }
      tracks[track].rows = rows.map(\.row)
      for (row, id) in rows.map(\.id).enumerated() { places[id] = (track, row) }
    }
  }

  mutating func read() throws -> [ScenarioTrack] {
    try readTroubles()
    try readMetrics()
    return tracks
  }

  /// The rows of each track, which `numbers` tells by their names' ids.
  private func scenarioRows(_ numbers: [Int64: Int]) throws -> [[(id: Int64, row: ScenarioTrack.Row)]] {
    let statement = RawStatement(
      try db.makeStatement(
        sql: """
          SELECT id, run_id, environment_id, verdict, growth_is_per_iteration, approval_id, tags_id,
            anon, file, shmem, stack, heap, lazy_free, huge_pages, name_id
          FROM scenario
          """))
    var rows: [[(id: Int64, row: ScenarioTrack.Row)]] = tracks.map { _ in [] }
    var tags: [Int64: [String]] = [:]
    while try statement.step() {
      guard let track = numbers[statement.integer(14)], let run = index.runs[statement.integer(1)],
        let environment = index.environments[statement.integer(2)]
      else { continue }
      let row = ScenarioTrack.Row(
        run: run,
        environment: environment,
        verdict: Verdict(statement.textIfAny(3) ?? ""),
        growthIsPerIteration: statement.integer(4) != 0,
        tags: try statement.integerIfAny(6).map { try tagged($0, &tags) } ?? [],
        approval: statement.integerIfAny(5).flatMap { index.approvals[$0] },
        composition: composition(in: statement, from: 7)
      )
      rows[track].append((statement.integer(0), row))
    }
    return rows
  }

  private func tagged(_ id: Int64, _ known: inout [Int64: [String]]) throws -> [String] {
    if let tags = known[id] { return tags }
    let tags = try name(id).split(separator: ",").map(String.init)
    known[id] = tags
    return tags
  }

  private func name(_ id: Int64) throws -> String {
    try String.fetchOne(db, sql: "SELECT text FROM name WHERE id = ?", arguments: [id]) ?? ""
  }

  private func composition(in statement: RawStatement, from first: Int32) -> Composition? {
    func amount(_ column: Int32) -> Bytes? { statement.integerIfAny(first + column).map { Bytes($0) } }
    guard let anonymous = amount(0) else { return nil }
    return Composition(
      anonymous: anonymous, file: amount(1) ?? .zero, shared: amount(2) ?? .zero, stack: amount(3), heap: amount(4),
      lazilyFreed: amount(5), hugePages: amount(6)
    )
  }

  private mutating func readMetrics() throws {
    let statement = RawStatement(
      try db.makeStatement(
        sql:
          "SELECT scenario_id, name_id, median, low, high, verdict, baseline, change, allowed, limit_bytes FROM metric"
      ))
    /// Which column of a track is a metric's, by its name's id.
    var columns: [[Int64: Int]] = tracks.map { _ in [:] }
    var (scenario, place): (Int64, (track: Int, row: Int)?) = (-1, nil)
    while try statement.step() {
      let id = statement.integer(0)
      if id != scenario { (scenario, place) = (id, places[id]) }
      guard let (track, row) = place, let point = point(in: statement) else { continue }
      let metric = statement.integer(1)
      let column: Int
      if let known = columns[track][metric] {
        column = known
      } else {
        column = tracks[track].columns.count
        columns[track][metric] = column
        let rows = tracks[track].rows.count
        let (metric, reported) = MetricRecord.split(nameInHistory: try name(metric))
        tracks[track].columns.append(ScenarioTrack.Column(metric: metric, reported: reported, rows: rows))
      }
      tracks[track].columns[column][row] = point
    }
  }

  /// A figure; nil where that run has none.
  private func point(in statement: RawStatement) -> MetricCourse.Point? {
    guard let median = statement.numberIfAny(2) else { return nil }
    let judgement = statement.textIfAny(5).map { verdict in
      MetricRecord.Judgement(
        verdict: Verdict(verdict), baseline: statement.numberIfAny(6), change: statement.numberIfAny(7),
        allowed: statement.numberIfAny(8), limit: statement.numberIfAny(9)
      )
    }
    return MetricCourse.Point(
      median: median, low: statement.numberIfAny(3) ?? median, high: statement.numberIfAny(4) ?? median,
      judgement: judgement
    )
  }

  private mutating func readTroubles() throws {
    let rows = try Row.fetchCursor(db, sql: "SELECT * FROM trouble ORDER BY scenario_id, repetition")
    while let row = try rows.next() {
      guard let (track, place) = places[row["scenario_id"]] else { continue }
      tracks[track].rows[place].troubles.append(ScenarioRecord.Trouble(row))
    }
  }
}
