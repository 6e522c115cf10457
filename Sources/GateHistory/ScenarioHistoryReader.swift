import GRDB
import GateCore

/// What the scenarios' histories refer to, with the ids of its rows.
struct TrendIndex {
  let source: TrendSource
  /// By name.
  let scenarios: [(id: Int64, name: ScenarioName)]
  /// Indices into the source, by row id.
  let runs: [Int64: Int]
  let environments: [Int64: Int]
  let approvals: [Int64: Int]

  init(_ db: Database) throws {
    func indices(_ ids: [Int64]) -> [Int64: Int] { Dictionary(uniqueKeysWithValues: zip(ids, 0...)) }
    let environmentIDs = try Int64.fetchAll(db, sql: "SELECT id FROM environment ORDER BY id")
    let approvalIDs = try Int64.fetchAll(db, sql: "SELECT id FROM approval ORDER BY id")
    let runRows = try RunReader(db).allRows()
    var (storedEnvironments, storedApprovals) = (SharedValues.environments(db), SharedValues.approvals(db))
    source = TrendSource(
      runs: runRows.map { RunInfo($0) },
      environments: try environmentIDs.map { try storedEnvironments.value($0) },
      approvals: try approvalIDs.map { try storedApprovals.value($0) }
    )
    runs = indices(runRows.map { $0["id"] })
    environments = indices(environmentIDs)
    approvals = indices(approvalIDs)
    scenarios = try Row.fetchAll(
      db, sql: "SELECT id, text FROM name WHERE id IN (SELECT name_id FROM scenario) ORDER BY text"
    ).map { ($0["id"], ScenarioName($0["text"])) }
  }
}

/// Reads the histories of several scenarios in one pass over the tables: the rows of all scenarios are mixed, so that a
/// pass for each scenario would read the whole file as often.
struct ScenarioHistoryReader {
  private let db: Database
  private let index: TrendIndex
  private var histories: [ScenarioHistory]
  /// By row id of `scenario`: the index of the history and of the run in it.
  private var places: [Int64: (history: Int, run: Int)] = [:]

  /// Reads those of the index's scenarios that are in the range.
  static func read(_ scenarios: Range<Int>, of index: TrendIndex, from db: Database) throws -> [ScenarioHistory] {
    var reader = Self(db: db, index: index, histories: [])
    try reader.readRuns(scenarios)
    try reader.readMetrics()
    return reader.histories
  }

  private mutating func readRuns(_ scenarios: Range<Int>) throws {
    let numbers = Dictionary(uniqueKeysWithValues: zip(index.scenarios[scenarios].map(\.id), 0...))
    let statement = try RawStatement(
      db,
      """
      SELECT id, name_id, run_id, environment_id, verdict, growth_is_per_iteration, tags_id, approval_id,
        failed_repetitions, anon, file, shmem, stack, heap, lazy_free, huge_pages
      FROM scenario
      """)
    var rows: [[(id: Int64, run: ScenarioHistory.Run)]] = scenarios.map { _ in [] }
    var tags: [Int64: [String]] = [:]
    while try statement.step() {
      guard let number = numbers[statement.integer(1)], var run = run(in: statement) else { continue }
      if let id = statement.optionalInteger(6) {
        run.tags = try tags[id] ?? name(id).split(separator: ",").map(String.init)
        tags[id] = run.tags
      }
      if let failed = statement.optionalText(8) {
        run.failedRepetitions = try JSONColumn.decode([FailedRepetition].self, from: failed)
      }
      rows[number].append((statement.integer(0), run))
    }
    for (number, scenario) in index.scenarios[scenarios].enumerated() {
      let sorted = rows[number].sorted { $0.run.index < $1.run.index }
      histories.append(ScenarioHistory(name: scenario.name, runs: sorted.map(\.run)))
      for (run, id) in sorted.map(\.id).enumerated() { places[id] = (number, run) }
    }
  }

  private func run(in statement: RawStatement) -> ScenarioHistory.Run? {
    guard let runIndex = index.runs[statement.integer(2)], let environment = index.environments[statement.integer(3)]
    else { return nil }
    var run = ScenarioHistory.Run(
      index: runIndex, environment: environment, verdict: Verdict(stored: statement.optionalText(4) ?? ""))
    run.growthIsPerIteration = statement.integer(5) != 0
    run.approval = statement.optionalInteger(7).flatMap { index.approvals[$0] }
    func amount(_ column: Int32) -> Bytes? { statement.optionalInteger(column).map { Bytes($0) } }
    run.composition = amount(9).map { anonymous in
      Composition(
        anonymous: anonymous, file: amount(10) ?? .zero, shared: amount(11) ?? .zero, stack: amount(12),
        heap: amount(13), lazilyFreed: amount(14), hugePages: amount(15))
    }
    return run
  }

  private func name(_ id: Int64) throws -> String {
    try String.fetchOne(db, sql: "SELECT text FROM name WHERE id = ?", arguments: [id]) ?? ""
  }

  private mutating func readMetrics() throws {
    let statement = try RawStatement(
      db, "SELECT scenario_id, name_id, median, low, high, verdict, baseline, allowed, limit_value FROM metric")
    /// By the id of the metric's name: its column in each history.
    var columns: [[Int64: Int]] = histories.map { _ in [:] }
    var (scenario, place): (Int64, (history: Int, run: Int)?) = (-1, nil)
    while try statement.step() {
      let id = statement.integer(0)
      if id != scenario { (scenario, place) = (id, places[id]) }
      guard let (history, run) = place, let point = Self.point(in: statement) else { continue }
      let nameID = statement.integer(1)
      let column = columns[history][nameID] ?? histories[history].columns.count
      if column == histories[history].columns.count {
        columns[history][nameID] = column
        let name = StoredMetricName(text: try name(nameID))
        let count = histories[history].runs.count
        histories[history].columns.append(
          ScenarioHistory.Column(metric: name.metric, reportedUnit: name.reportedUnit, count: count))
      }
      histories[history].columns[column][run] = point
    }
  }

  /// nil where the run has no values.
  private static func point(in statement: RawStatement) -> MetricSeries.Point? {
    guard let median = statement.optionalNumber(2) else { return nil }
    return MetricSeries.Point(
      median: median, low: statement.optionalNumber(3) ?? median, high: statement.optionalNumber(4) ?? median,
      judgement: statement.optionalText(5).map { verdict in
        MetricSeries.Judgement(
          verdict: Verdict(stored: verdict), baseline: statement.optionalNumber(6),
          allowed: statement.optionalNumber(7), limit: statement.optionalNumber(8))
      })
  }
}
