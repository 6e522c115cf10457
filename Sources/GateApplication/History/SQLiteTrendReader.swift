import GRDB
import GateCore

/// Reads the histories of several scenarios in one pass over the tables: the rows of all scenarios are mixed, so a pass
/// for each scenario would read the whole file every time.
struct SQLiteTrendReader {
  private let db: Database
  private var names: StoredNames
  private var builder: ScenarioHistoryBuilder<Int64>
  /// By row ID of `scenario`.
  private var places: [Int64: ScenarioHistoryBuilder<Int64>.Place] = [:]

  /// Reads the scenarios of the index in this range.
  static func read(_ scenarios: Range<Int>, of index: TrendIndex, from db: Database) throws -> [ScenarioHistory] {
    var reader = Self(
      db: db, names: .texts(of: db), builder: ScenarioHistoryBuilder(scenarios, of: index))
    try reader.readRuns(since: index.oldest)
    try reader.readMetrics()
    return reader.builder.histories
  }

  private mutating func readRuns(since oldest: Int64) throws {
    let scenarios = try RawStatement(
      db,
      """
      SELECT \(StoredScenario.columns) FROM scenario WHERE run_id IN (SELECT id FROM run WHERE started_at >= \(oldest))
      """)
    while try scenarios.step() {
      let scenario = try StoredScenario(scenarios)
      places[scenario.id] = builder.add(scenario, tags: try names.tags(scenario.tags))
    }
  }

  private mutating func readMetrics() throws {
    // Rows are ordered by scenario, and runs are mostly added in order of time: this leaves out most of the older ones.
    let statement = try RawStatement(
      db,
      """
      SELECT scenario_id, name_id, \(StoredMetric.columns.joined(separator: ", ")) FROM metric
      WHERE scenario_id >= \(places.keys.min() ?? .max)
      """)
    var (scenario, place): (Int64, ScenarioHistoryBuilder<Int64>.Place?) = (-1, nil)
    while try statement.step() {
      let id = statement.integer(0)
      if id != scenario { (scenario, place) = (id, places[id]) }
      guard let place else { continue }
      let name = statement.integer(1)
      try builder.add(StoredMetric(statement, from: 2), of: name, at: place) { try names.metric(name) }
    }
  }
}
