import GRDB
import GateCore

/// Reads the histories of several scenarios in one pass over the tables: the rows of all scenarios are mixed, so a pass
/// for each scenario would read the whole file every time.
struct SQLiteTrendReader {
  private let db: Database
  private let index: TrendIndex
  private var names: StoredNames
  private var histories: [ScenarioHistory] = []
  /// By row ID of `scenario`: the index of the history and of the run in it.
  private var places: [Int64: (history: Int, run: Int)] = [:]

  private init(_ db: Database, _ index: TrendIndex) {
    (self.db, self.index, names) = (db, index, .texts(of: db))
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
      guard let number = numbers[scenario.name],
        let run = index.run(of: scenario, tags: try names.tags(scenario.tags))
      else { continue }
      rows[number].append((scenario.id, run))
    }
    for (number, scenario) in index.scenarios[scenarios].enumerated() {
      let sorted = rows[number].sorted { $0.run.index < $1.run.index }
      histories.append(ScenarioHistory(name: scenario.name, runs: sorted.map(\.run)))
      for (run, id) in sorted.map(\.id).enumerated() { places[id] = (number, run) }
    }
  }

  private mutating func readMetrics() throws {
    let statement = try RawStatement(
      db, "SELECT scenario_id, name_id, \(StoredMetric.columns.joined(separator: ", ")) FROM metric")
    /// By the ID of the metric's name: its column in each history.
    var columns: [[Int64: Int]] = histories.map { _ in [:] }
    var (scenario, place): (Int64, (history: Int, run: Int)?) = (-1, nil)
    while try statement.step() {
      let id = statement.integer(0)
      if id != scenario { (scenario, place) = (id, places[id]) }
      guard let (history, run) = place, let point = StoredMetric(statement, from: 2).point else { continue }
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
}
