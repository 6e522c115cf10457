import GateCore

/// Builds the histories of scenarios from rows whose metrics are with them.
struct ScenarioHistoryBuilder {
  private let index: TrendIndex
  /// By ID of the scenario's name: the index of its history.
  private let numbers: [Int64: Int]
  private var parts: [ScenarioHistory]
  /// By metric: its column in each history.
  private var columns: [[String: Int]]

  init(_ scenarios: Range<Int>, of index: TrendIndex) {
    self.index = index
    numbers = Dictionary(uniqueKeysWithValues: zip(index.scenarios[scenarios].map(\.id), 0...))
    parts = index.scenarios[scenarios].map { ScenarioHistory(name: $0.name, runs: []) }
    columns = scenarios.map { _ in [:] }
  }

  /// Adds a run of a scenario; returns the history and the run in it, or nil if it belongs to none.
  mutating func add(_ scenario: StoredScenario, tags: [String]) -> (history: Int, run: Int)? {
    guard let number = numbers[scenario.name], let run = index.run(of: scenario, tags: tags) else { return nil }
    parts[number].runs.append(run)
    return (number, parts[number].runs.count - 1)
  }

  mutating func add(_ metric: StoredMetric, named text: String, at place: (history: Int, run: Int)) {
    guard let point = metric.point else { return }
    let column = columns[place.history][text] ?? addColumn(text, to: place.history)
    parts[place.history].columns[column].set(point, at: place.run)
  }

  private mutating func addColumn(_ text: String, to history: Int) -> Int {
    let (name, number) = (StoredMetricName(text: text), parts[history].columns.count)
    parts[history].columns.append(
      ScenarioHistory.Column(metric: name.metric, reportedUnit: name.reportedUnit, count: 0))
    columns[history][text] = number
    return number
  }

  /// The histories, with runs in order of time.
  var histories: [ScenarioHistory] { parts.map { $0.inOrder() } }
}
