import FoundationEssentials
import GateCore

/// The runs of a project: in one SQLite file, or in a PostgreSQL database that many machines share.
///
/// Several processes may use it at once. Each change is one transaction that is durable when the call returns: a killed
/// process loses only the transaction in progress.
struct History: Sendable {
  /// The file, or the address of the database without its password.
  let path: String
  /// The new name of an unusable file that was replaced, if any.
  let unusableFile: String?
  private let store: any HistoryStore

  init(_ store: any HistoryStore, path: String, unusableFile: String? = nil) {
    (self.store, self.path, self.unusableFile) = (store, path, unusableFile)
  }

  func close() { store.close() }

  private func reading<Value>(_ body: (any HistoryReader) throws -> Value) throws(HistoryError) -> Value {
    do {
      return try store.reading(body)
    } catch {
      throw HistoryError(error, path: path)
    }
  }

  private func writing<Value>(_ body: (any HistoryStore) throws -> Value) throws(HistoryError) -> Value {
    do {
      return try body(store)
    } catch {
      throw HistoryError(error, path: path)
    }
  }
}

/// Where the runs of a project are stored.
protocol HistoryStore: Sendable {
  /// Reads in one transaction, in which nothing changes.
  func reading<Value>(_ body: (any HistoryReader) throws -> Value) throws -> Value

  /// Adds runs as ``History/append(_:)`` does, in one transaction.
  func append(_ runs: [RunSummary]) throws -> History.Additions

  /// Removes all runs but these; returns how many.
  func prune(keeping retention: History.Retention) throws -> Int

  /// Closes the file, if there is one, before another takes its place.
  func close()
}

/// Reads a history within one transaction.
protocol HistoryReader {
  func isEmpty() throws -> Bool
  /// The latest runs in order of time; with names, those of any of these scenarios.
  func runs(latest: Int, of scenarios: [ScenarioName]) throws -> [RunSummary]
  /// Calls `body` with each run, in order of time.
  func forEachRun(_ body: (RunSummary) -> Void) throws
  /// The runs that have values of the metric, in order of time.
  func points(of metric: StoredMetricName, in selection: History.Selection) throws -> [SeriesPoint]
  /// Oldest first.
  func verdicts(in selection: History.Selection) throws -> [Verdict]
  /// The runs whose rise was explained, oldest first.
  func findings(in selection: History.Selection) throws -> [StoredFinding]
  func trendIndex() throws -> TrendIndex
  /// Reads the scenarios of the index in this range.
  func histories(of scenarios: Range<Int>, in index: TrendIndex) throws -> [ScenarioHistory]
}

// MARK: - Adding and removing

extension History {
  /// The outcome of an addition.
  struct Additions: Sendable, Equatable {
    var added = 0
    /// How many runs were stored before.
    var known = 0
    /// IDs of runs that were stored with other values.
    var conflicts: [String] = []

    /// Counts a run whose ID is stored already; returns whether it takes the place of the stored one.
    mutating func addKnown(_ run: RunSummary, stored: RunSummary) -> Bool {
      known += 1
      if run == stored { return false }
      let (text, storedText) = (run.comparedText, stored.comparedText)
      if text != storedText { conflicts.append(run.run.id) }
      return storedText < text
    }
  }

  /// Adds runs in one transaction; a run that is already stored is not stored again.
  ///
  /// If two runs have the same ID and different values, the one whose values sort last is kept, so that the result does
  /// not depend on the order of additions.
  ///
  /// - Parameter runs: In any order.
  /// - Returns: the outcome.
  /// - Throws: if no run was added.
  @discardableResult
  func append(_ runs: [RunSummary]) throws(HistoryError) -> Additions {
    try writing { try $0.append(runs) }
  }

  /// The runs that are kept.
  enum Retention: Sendable, Equatable {
    /// This many latest runs.
    case latest(Int)
    /// Runs that started at this time or later.
    case since(Date)
  }

  /// Removes all other runs.
  ///
  /// - Returns: the number of removed runs.
  func prune(keeping retention: Retention) throws(HistoryError) -> Int {
    try writing { try $0.prune(keeping: retention) }
  }
}

// MARK: - Queries

extension History {
  /// The runs of a scenario that a query returns.
  struct Selection: Sendable, Equatable {
    enum Branch: Sendable, Equatable {
      case any
      /// This branch; nil for runs whose branch is unknown.
      case named(String?)
    }

    var scenario: ScenarioName
    /// The name of an environment; nil for all.
    var environment: String?
    var branch: Branch
    /// Only this many latest runs; nil for all.
    var latest: Int?

    init(
      _ scenario: ScenarioName,
      environment: String? = nil,
      branch: Branch = .any,
      latest: Int? = nil
    ) {
      self.scenario = scenario
      self.environment = environment
      self.branch = branch
      self.latest = latest
    }
  }

  func isEmpty() throws(HistoryError) -> Bool {
    try reading { try $0.isEmpty() }
  }

  /// The latest runs in order of time; with names, those of any of these scenarios.
  func runs(latest: Int, of scenarios: [ScenarioName] = []) throws(HistoryError) -> [RunSummary] {
    try reading { try $0.runs(latest: latest, of: scenarios) }
  }

  /// By name.
  func scenarios() throws(HistoryError) -> [ScenarioName] {
    try reading { try $0.trendIndex().scenarios.map(\.name) }
  }

  /// Calls `body` with each run, in order of time; runs added in the meantime are not included.
  func forEachRun(_ body: (RunSummary) -> Void) throws(HistoryError) {
    try reading { try $0.forEachRun(body) }
  }

  /// One metric of one scenario in order of time, for the runs that have values of it.
  ///
  /// The unit matters only for a reported value, which is another series if it has another unit.
  func series(
    of metric: MetricName,
    unit: String,
    in selection: Selection
  ) throws(HistoryError) -> [SeriesPoint] {
    try reading { try $0.points(of: StoredMetricName(metric, reportedUnit: unit), in: selection) }
  }

  /// A scenario's verdicts, oldest first.
  func verdicts(in selection: Selection) throws(HistoryError) -> [Verdict] {
    try reading { try $0.verdicts(in: selection) }
  }

  /// The run that first named this function for a rise over the same baseline; nil if none has.
  func firstNaming(
    _ function: FunctionName, over approval: Approval?, in selection: Selection
  ) throws(HistoryError) -> RunInfo? {
    try reading { try $0.findings(in: selection) }.first { earlier in
      earlier.finding.culprit?.change.function == function && earlier.approval == approval
    }?.run
  }

  /// The series of all scenarios, with this many latest runs of each branch; runs added in the meantime are not included.
  func trend(
    latest: Int = Trend.latestRuns, createdAt: Date, links: BuildLinks
  ) throws(HistoryError) -> Trend {
    try reading { reader in
      var index = try reader.trendIndex()
      let builder = SeriesBuilder(index.source, latest: latest)
      index.keep(builder.shownRuns)
      let step = max(1, Self.mostRuns / max(1, builder.shownRuns.count))
      let series = try stride(from: 0, to: index.scenarios.count, by: step).flatMap { start in
        let scenarios = start..<min(start + step, index.scenarios.count)
        return try reader.histories(of: scenarios, in: index).flatMap(builder.series)
      }
      return builder.trend(of: series, createdAt: createdAt, links: links)
    }
  }

  /// The maximum number of scenario runs in memory, at about 200 bytes each; a larger history takes several passes.
  private static let mostRuns = 400_000
}

extension Date {
  /// Milliseconds since 1970, as stored.
  var inMilliseconds: Int64 {
    // A Double is exact to a microsecond for the next thousand years.
    Int64(max(-9e15, min(9e15, (timeIntervalSince1970 * 1000).rounded())))
  }

  init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}

extension RunSummary {
  /// The text for comparing two runs with the same ID: the stored fields, which are fewer than those of a result file.
  fileprivate var comparedText: String {
    let head = [run.commit, run.branch, run.subject, run.buildURL].map { $0 ?? "" } + ["\(run.isDirty)"]
    let scenarios = scenarios.map { scenario in
      let metrics = scenario.allMetrics.map { "\($0.metric) \($0.verdict.rawValue) \($0.current?.median ?? 0)" }
      return "\(scenario.name) \(scenario.verdict.rawValue) \(metrics.joined(separator: " "))"
    }
    return (head + scenarios).joined(separator: "\n")
  }
}
