import FoundationEssentials
import GRDB
import GateCore

/// A row of the table `run`.
struct StoredRun {
  let id: Int64
  let environment: Int64
  let info: RunInfo

  /// The columns that ``init(_:)`` reads.
  static let columns = """
    run.id, run.environment_id, run.identifier, run.started_at, run.duration, run.commit_id, run.dirty, run.subject,
    branch.text, run.build_url
    """
  static let columnCount: Int32 = 10
  static let joins = "LEFT JOIN name AS branch ON branch.id = run.branch_id"

  init(_ row: RawStatement) {
    id = row.integer(0)
    environment = row.integer(1)
    info = RunInfo(
      id: row.text(2), startedAt: Date(milliseconds: row.integer(3)), duration: .nanoseconds(row.integer(4)),
      commit: row.optionalText(5), isDirty: row.integer(6) != 0, subject: row.optionalText(7),
      branch: row.optionalText(8), buildURL: row.optionalText(9))
  }
}

/// A row of the table `scenario`.
struct StoredScenario {
  let id: Int64
  let name: Int64
  let run: Int64
  let environment: Int64
  let tags: Int64?
  let approval: Int64?
  let verdict: Verdict
  let growthIsPerIteration: Bool
  let repetitionCount: Int
  let failedRepetitions: [FailedRepetition]
  let explanation: RiseExplanation?
  let composition: Composition?

  /// The columns that ``init(_:)`` reads.
  static let columns = """
    id, name_id, run_id, environment_id, tags_id, approval_id, verdict, growth_is_per_iteration, repetitions,
    failed_repetitions, explanation, anon, file, shmem, stack, heap, lazy_free, huge_pages
    """

  init(_ row: RawStatement) throws {
    id = row.integer(0)
    name = row.integer(1)
    run = row.integer(2)
    environment = row.integer(3)
    tags = row.optionalInteger(4)
    approval = row.optionalInteger(5)
    verdict = Verdict(stored: row.text(6))
    growthIsPerIteration = row.integer(7) != 0
    repetitionCount = Int(row.integer(8))
    failedRepetitions = try row.optionalText(9).map { try JSONColumn.decode([FailedRepetition].self, from: $0) } ?? []
    explanation = try row.optionalText(10).flatMap(RiseExplanation.init(stored:))
    func amount(_ column: Int32) -> Bytes? { row.optionalInteger(column).map { Bytes($0) } }
    composition = amount(11).map { anonymous in
      Composition(
        anonymous: anonymous, file: amount(12) ?? .zero, shared: amount(13) ?? .zero, stack: amount(14),
        heap: amount(15), lazilyFreed: amount(16), hugePages: amount(17))
    }
  }
}

extension MetricResult {
  /// The columns that ``init(_:from:name:perIteration:)`` reads.
  static let columns = """
    metric.median, metric.low, metric.high, metric.count, metric.verdict, metric.baseline, metric.baseline_count,
    metric.change, metric.allowed, metric.limit_value
    """

  /// The tolerance, the interval of the change, the method and the reason are not stored.
  ///
  /// - Parameters:
  ///   - row: With ``columns`` from the column `first` on.
  ///   - first: The number of a column.
  ///   - name: The metric's name.
  ///   - perIteration: Whether growth is per iteration.
  init(_ row: RawStatement, from first: Int32, name: StoredMetricName, perIteration: Bool) {
    let unit = name.metric.unit(perIteration: perIteration, reported: name.reportedUnit)
    let (low, high) = (row.optionalNumber(first + 1), row.optionalNumber(first + 2))
    let verdict = row.optionalText(first + 4)
    let baseline = row.optionalNumber(first + 5)
    self.init(
      rule: GateRule(
        metric: name.metric, tolerance: nil, limit: row.optionalNumber(first + 9).map { Amount($0, unit: unit) },
        severity: verdict == nil ? .off : .fail),
      unit: unit,
      verdict: verdict.map { Verdict(stored: $0) } ?? .skipped,
      baseline: baseline.map { ValueSummary(median: $0, count: Int(row.integer(first + 6))) },
      current: row.optionalNumber(first).map { median in
        let range = low.flatMap { low in high.map { min(low, $0)...max(low, $0) } }
        return ValueSummary(median: median, count: Int(row.integer(first + 3)), range: range)
      },
      change: row.optionalNumber(first + 7).map { change in
        let percent = baseline.flatMap { $0 > 0 ? change / $0 * 100 : nil }
        return Change(absolute: change, percent: percent, low: change, high: change)
      },
      allowed: row.optionalNumber(first + 8)
    )
  }
}

extension Amount {
  /// The amount for a number in this unit.
  fileprivate init(_ value: Double, unit: String) {
    switch unit {
    case "seconds": self = .time(.seconds(value))
    case _ where MetricUnit.isMemory(unit): self = .size(Bytes(clampedFrom: value))
    default: self = .number(value)
    }
  }
}

extension RiseExplanation {
  /// nil if it is of an unknown kind.
  init?(stored text: String) throws {
    guard let known = try JSONColumn.decode(Known<RiseExplanation>.self, from: text).value else { return nil }
    self = known
  }
}

extension Verdict {
  /// An unknown verdict counts as `skipped`.
  init(stored text: String) {
    self = Verdict(rawValue: text) ?? .skipped
  }
}

/// The texts of the table `name`.
struct StoredNames {
  private let db: Database
  private var texts: [Int64: String] = [:]
  private var metrics: [Int64: StoredMetricName] = [:]
  private var tags: [Int64: [String]] = [:]

  init(_ db: Database) {
    self.db = db
  }

  mutating func text(_ id: Int64) throws -> String {
    if let text = texts[id] { return text }
    let text = try String.fetchOne(db, sql: "SELECT text FROM name WHERE id = ?", arguments: [id]) ?? ""
    texts[id] = text
    return text
  }

  mutating func metric(_ id: Int64) throws -> StoredMetricName {
    if let name = metrics[id] { return name }
    let name = StoredMetricName(text: try text(id))
    metrics[id] = name
    return name
  }

  /// The tags, which are stored as one name with commas.
  mutating func tags(_ id: Int64?) throws -> [String] {
    guard let id else { return [] }
    if let tags = tags[id] { return tags }
    let list = try text(id).split(separator: ",").map(String.init)
    tags[id] = list
    return list
  }
}

/// A metric's name in the table `name`.
///
/// A reported value is followed by a space and its unit, as in `value.cache.entries items`: another unit is another
/// series.
struct StoredMetricName {
  let metric: MetricName
  /// nil for the metrics whose unit follows from their name.
  let reportedUnit: String?

  init(_ metric: MetricName, reportedUnit: String?) {
    self.metric = metric
    self.reportedUnit = metric.isValue && reportedUnit != "" ? reportedUnit : nil
  }

  init(of result: MetricResult) {
    self.init(result.metric, reportedUnit: result.unit)
  }

  init(text: String) {
    let space = MetricName(text).isValue ? text.lastIndex(of: " ") : nil
    metric = MetricName(String(text[..<(space ?? text.endIndex)]))
    reportedUnit = space.map { String(text[text.index(after: $0)...]) }
  }

  var text: String { reportedUnit.map { "\(metric) \($0)" } ?? metric.text }
}
