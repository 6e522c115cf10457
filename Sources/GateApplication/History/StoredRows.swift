import FoundationEssentials
import GateCore

/// A row that a database returned; columns count from 0.
protocol StoredRow {
  func integer(_ column: Int32) -> Int64
  func optionalInteger(_ column: Int32) -> Int64?
  func optionalNumber(_ column: Int32) -> Double?
  func optionalText(_ column: Int32) -> String?
}

extension StoredRow {
  func text(_ column: Int32) -> String { optionalText(column) ?? "" }
}

/// A value of a row to be written.
enum StoredValue {
  case integer(Int64?)
  /// A non-finite number is stored as null.
  case number(Double?)
  case text(String?)
}

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

  init(_ row: some StoredRow) {
    id = row.integer(0)
    environment = row.integer(1)
    info = RunInfo(
      id: row.text(2), startedAt: Date(milliseconds: row.integer(3)), duration: .nanoseconds(row.integer(4)),
      commit: row.optionalText(5), isDirty: row.integer(6) != 0, subject: row.optionalText(7),
      branch: row.optionalText(8), buildURL: row.optionalText(9))
  }

  /// The columns of ``values(of:branch:environment:)``.
  static let writtenColumns = [
    "identifier", "started_at", "duration", "commit_id", "dirty", "subject", "branch_id", "build_url", "environment_id",
  ]

  /// A row to be written, with the IDs of the values that it refers to.
  static func values(of run: RunInfo, branch: Int64?, environment: Int64) -> [StoredValue] {
    [
      .text(run.id), .integer(run.startedAt.inMilliseconds), .integer(run.duration.nanoseconds), .text(run.commit),
      .integer(run.isDirty ? 1 : 0), .text(run.subject), .integer(branch), .text(run.buildURL), .integer(environment),
    ]
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
  static let columnCount: Int32 = 18

  init(_ row: some StoredRow) throws {
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

  /// The run of a scenario, with the values that the row refers to.
  func summary(
    name: String, tags: [String], environment: EnvironmentInfo, approval: Approval?,
    metrics: [(name: StoredMetricName, metric: StoredMetric)]
  ) -> ScenarioSummary {
    let metrics = metrics.map { $0.metric.result(of: $0.name, perIteration: growthIsPerIteration) }
      .sorted { MetricName.isListedBefore($0.metric, $1.metric) }
    return ScenarioSummary(
      name: ScenarioName(name), tags: tags, verdict: verdict, environment: environment,
      repetitionCount: repetitionCount, growthIsPerIteration: growthIsPerIteration,
      metrics: metrics.filter(\.isGated), ungated: metrics.filter { !$0.isGated },
      failedRepetitions: failedRepetitions, composition: composition, approval: approval, explanation: explanation)
  }

  /// The IDs of the values that a row refers to.
  struct References {
    var name: Int64
    var environment: Int64
    var tags: Int64?
    var approval: Int64?
  }

  /// The columns of ``values(of:_:)``.
  static let writtenColumns = [
    "name_id", "environment_id", "tags_id", "approval_id", "verdict", "repetitions", "growth_is_per_iteration",
    "failed_repetitions", "explanation", "anon", "file", "shmem", "stack", "heap", "lazy_free", "huge_pages",
  ]

  /// A row to be written.
  static func values(of scenario: ScenarioSummary, _ references: References) throws -> [StoredValue] {
    let (failed, parts) = (scenario.failedRepetitions, scenario.composition)
    let amounts = [
      parts?.anonymous, parts?.file, parts?.shared, parts?.stack, parts?.heap, parts?.lazilyFreed, parts?.hugePages,
    ]
    return [
      .integer(references.name), .integer(references.environment), .integer(references.tags),
      .integer(references.approval), .text(scenario.verdict.rawValue), .integer(Int64(scenario.repetitionCount)),
      .integer(scenario.growthIsPerIteration ? 1 : 0),
      .text(failed.isEmpty ? nil : try JSONColumn.encode(failed)),
      .text(try scenario.explanation.map { try JSONColumn.encode($0) }),
    ] + amounts.map { .integer($0?.count) }
  }
}

/// The stored part of a metric of one scenario run; the tolerance, the interval of the change, the method and the reason
/// are not stored.
struct StoredMetric {
  var median, low, high: Double?
  var count: Int?
  /// nil for an ungated metric.
  var verdict: Verdict?
  var baseline: Double?
  var baselineCount: Int?
  var change, allowed, limit: Double?

  init() {}

  init(_ result: MetricResult) {
    (median, count) = (result.current?.median, result.current?.count)
    (low, high) = (result.current?.range?.lowerBound, result.current?.range?.upperBound)
    verdict = result.isGated ? result.verdict : nil
    (baseline, baselineCount) = (result.baseline?.median, result.baseline?.count)
    (change, allowed, limit) = (result.change?.absolute, result.allowed, result.rule.limit?.value)
  }

  /// The columns that ``init(_:from:)`` reads, and those of ``values``.
  static let columns = [
    "median", "low", "high", "count", "verdict", "baseline", "baseline_count", "change", "allowed", "limit_value",
  ]

  /// Reads the columns from `first` on.
  init(_ row: some StoredRow, from first: Int32) {
    (median, low, high) = (row.optionalNumber(first), row.optionalNumber(first + 1), row.optionalNumber(first + 2))
    (count, baselineCount) = (
      row.optionalInteger(first + 3).map { Int($0) }, row.optionalInteger(first + 6).map { Int($0) }
    )
    verdict = row.optionalText(first + 4).map(Verdict.init(stored:))
    (baseline, change) = (row.optionalNumber(first + 5), row.optionalNumber(first + 7))
    (allowed, limit) = (row.optionalNumber(first + 8), row.optionalNumber(first + 9))
  }

  /// A row to be written.
  var values: [StoredValue] {
    [
      .number(median), .number(low), .number(high), .integer(count.map { Int64($0) }), .text(verdict?.rawValue),
      .number(baseline), .integer(baselineCount.map { Int64($0) }), .number(change), .number(allowed), .number(limit),
    ]
  }

  /// nil if the run has no values.
  var point: MetricSeries.Point? {
    guard let median else { return nil }
    let judgement = verdict.map {
      MetricSeries.Judgement(verdict: $0, baseline: baseline, allowed: allowed, limit: limit)
    }
    return MetricSeries.Point(median: median, low: low ?? median, high: high ?? median, judgement: judgement)
  }

  func result(of name: StoredMetricName, perIteration: Bool) -> MetricResult {
    let unit = name.metric.unit(perIteration: perIteration, reported: name.reportedUnit)
    return MetricResult(
      rule: GateRule(
        metric: name.metric, tolerance: nil, limit: limit.map { Amount($0, unit: unit) },
        severity: verdict == nil ? .off : .fail),
      unit: unit,
      verdict: verdict ?? .skipped,
      baseline: baseline.map { ValueSummary(median: $0, count: baselineCount ?? 0) },
      current: median.map { median in
        let range = low.flatMap { low in high.map { min(low, $0)...max(low, $0) } }
        return ValueSummary(median: median, count: count ?? 0, range: range)
      },
      change: change.map { change in
        let percent = baseline.flatMap { $0 > 0 ? change / $0 * 100 : nil }
        return MetricResult.Change(absolute: change, percent: percent, low: change, high: change)
      },
      allowed: allowed
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

/// A run whose rise was explained.
struct StoredFinding {
  let run: RunInfo
  let approval: Approval?
  let finding: CulpritFinding
}

extension RiseExplanation {
  /// nil if it is of an unknown kind.
  init?(stored text: String) throws {
    guard let known = try JSONColumn.decode(Known<RiseExplanation>.self, from: text).value else { return nil }
    self = known
  }
}

extension Verdict {
  /// An unknown verdict, of a later version, counts as `inconclusive`.
  init(stored text: String) {
    self = Verdict(rawValue: text) ?? .inconclusive
  }
}

/// The texts that rows refer to by ID.
struct StoredNames {
  private let find: (Int64) throws -> String?
  private var texts: [Int64: String] = [:]
  private var metrics: [Int64: StoredMetricName] = [:]
  private var tags: [Int64: [String]] = [:]

  init(_ find: @escaping (Int64) throws -> String?) {
    self.find = find
  }

  mutating func text(_ id: Int64) throws -> String {
    if let text = texts[id] { return text }
    let text = try find(id) ?? ""
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
