import GateCore

/// Builds the histories of scenarios from stored rows, in any order, with the keys by which the store names metrics.
struct ScenarioHistoryBuilder<MetricKey: Hashable> {
  typealias Place = (history: Int, run: Int)

  private let index: TrendIndex
  /// By ID of the scenario's name: the index of its history.
  private let numbers: [Int64: Int]
  private var parts: [ScenarioHistory]
  /// By metric: its column in each history.
  private var columns: [[MetricKey: Int]]

  init(_ scenarios: Range<Int>, of index: TrendIndex) {
    self.index = index
    numbers = Dictionary(uniqueKeysWithValues: zip(index.scenarios[scenarios].map(\.id), 0...))
    parts = index.scenarios[scenarios].map { ScenarioHistory(name: $0.name, runs: []) }
    columns = scenarios.map { _ in [:] }
  }

  /// Adds a run of a scenario; returns the history and the run in it, or nil if it belongs to none.
  mutating func add(_ scenario: StoredScenario, tags: [String]) -> Place? {
    guard let number = numbers[scenario.name], let run = index.run(of: scenario, tags: tags) else { return nil }
    parts[number].runs.append(run)
    return (number, parts[number].runs.count - 1)
  }

  /// Adds a metric of a run; its name is asked for once in each history.
  mutating func add(
    _ metric: StoredMetric, of key: MetricKey, at place: Place, named name: () throws -> StoredMetricName
  ) rethrows {
    guard let point = metric.point else { return }
    let column = try columns[place.history][key] ?? addColumn(of: key, try name(), to: place.history)
    parts[place.history].columns[column].set(point, at: place.run)
  }

  private mutating func addColumn(of key: MetricKey, _ name: StoredMetricName, to history: Int) -> Int {
    let number = parts[history].columns.count
    parts[history].columns.append(
      ScenarioHistory.Column(
        metric: name.metric, reportedUnit: name.reportedUnit, count: parts[history].runs.count))
    columns[history][key] = number
    return number
  }

  /// The histories, with runs in order of time.
  var histories: [ScenarioHistory] { parts.map { $0.inOrder() } }
}
