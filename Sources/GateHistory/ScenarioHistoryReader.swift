import GRDB
import GateCore

/// The values that the scenarios' histories refer to, with the IDs of their rows.
struct TrendIndex {
  let source: TrendSource
  /// By name.
  let scenarios: [(id: Int64, name: ScenarioName)]
  /// Indices into the source, by row ID.
  let runs: [Int64: Int]
  let environments: [Int64: Int]
  let approvals: [Int64: Int]

  init(_ db: Database) throws {
    func indices(_ ids: [Int64]) -> [Int64: Int] { Dictionary(uniqueKeysWithValues: zip(ids, 0...)) }
    let environmentIDs = try Int64.fetchAll(db, sql: "SELECT id FROM environment ORDER BY id")
    let approvalIDs = try Int64.fetchAll(db, sql: "SELECT id FROM approval ORDER BY id")
    let storedRuns = try RunReader.allRuns(db)
    var (storedEnvironments, storedApprovals) = (SharedValues.environments(db), SharedValues.approvals(db))
    source = TrendSource(
      runs: storedRuns.map(\.info),
      environments: try environmentIDs.map { try storedEnvironments.value($0) },
      approvals: try approvalIDs.map { try storedApprovals.value($0) }
    )
    runs = indices(storedRuns.map(\.id))
    environments = indices(environmentIDs)
    approvals = indices(approvalIDs)
    scenarios = try RawStatement(
      db, "SELECT id, text FROM name WHERE id IN (SELECT name_id FROM scenario) ORDER BY text"
    ).rows { ($0.integer(0), ScenarioName($0.text(1))) }
  }
}

/// Reads the histories of several scenarios in one pass over the tables: the rows of all scenarios are mixed, so a pass
/// for each scenario would read the whole file every time.
struct ScenarioHistoryReader {
  private let db: Database
  private let index: TrendIndex
  private var names: StoredNames
  private var histories: [ScenarioHistory] = []
  /// By row ID of `scenario`: the index of the history and of the run in it.
  private var places: [Int64: (history: Int, run: Int)] = [:]

  private init(_ db: Database, _ index: TrendIndex) {
    (self.db, self.index, names) = (db, index, StoredNames(db))
  }

  /// Reads the scenarios of the index in this range.
  static func read(_ scenarios: Range<Int>, of index: TrendIndex, from db: Database) throws -> [ScenarioHistory] {
    var reader = Self(db, index)
    try reader.readRuns(scenarios)
    try reader.readMetrics()
    return reader.histories
  }

  private mutating func readRuns(_ scenarios: Range<Int>) throws {
    let numbers = Dictionary(uniqueKeysWithValues: zip(index.scenarios[scenarios].map(\.id), 0...))
    let statement = try RawStatement(db, "SELECT \(StoredScenario.columns) FROM scenario")
    var rows: [[(id: Int64, run: ScenarioHistory.Run)]] = scenarios.map { _ in [] }
    while try statement.step() {
      let scenario = try StoredScenario(statement)
      guard let number = numbers[scenario.name], let run = try run(of: scenario) else { continue }
      rows[number].append((scenario.id, run))
    }
    for (number, scenario) in index.scenarios[scenarios].enumerated() {
      let sorted = rows[number].sorted { $0.run.index < $1.run.index }
      histories.append(ScenarioHistory(name: scenario.name, runs: sorted.map(\.run)))
      for (run, id) in sorted.map(\.id).enumerated() { places[id] = (number, run) }
    }
  }

  private mutating func run(of scenario: StoredScenario) throws -> ScenarioHistory.Run? {
    guard let runIndex = index.runs[scenario.run], let environment = index.environments[scenario.environment] else {
      return nil
    }
    var run = ScenarioHistory.Run(index: runIndex, environment: environment, verdict: scenario.verdict)
    run.growthIsPerIteration = scenario.growthIsPerIteration
    run.tags = try names.tags(scenario.tags)
    run.approval = scenario.approval.flatMap { index.approvals[$0] }
    run.failedRepetitions = scenario.failedRepetitions
    run.explanation = scenario.explanation
    run.composition = scenario.composition
    return run
  }

  private mutating func readMetrics() throws {
    let statement = try RawStatement(
      db, "SELECT scenario_id, name_id, median, low, high, verdict, baseline, allowed, limit_value FROM metric")
    /// By the ID of the metric's name: its column in each history.
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
        let name = try names.metric(nameID)
        let count = histories[history].runs.count
        histories[history].columns.append(
          ScenarioHistory.Column(metric: name.metric, reportedUnit: name.reportedUnit, count: count))
      }
      histories[history].columns[column][run] = point
    }
  }

  /// nil if the run has no values.
  private static func point(in row: RawStatement) -> MetricSeries.Point? {
    guard let median = row.optionalNumber(2) else { return nil }
    return MetricSeries.Point(
      median: median, low: row.optionalNumber(3) ?? median, high: row.optionalNumber(4) ?? median,
      judgement: row.optionalText(5).map { verdict in
        MetricSeries.Judgement(
          verdict: Verdict(stored: verdict), baseline: row.optionalNumber(6), allowed: row.optionalNumber(7),
          limit: row.optionalNumber(8))
      })
  }
}
