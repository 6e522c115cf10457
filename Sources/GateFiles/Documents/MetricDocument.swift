import GateCore

/// How one metric was judged.
struct MetricDocument: Codable {
  let result: MetricResult

  init(_ result: MetricResult) {
    self.result = result
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let metric = MetricName(try fields.name("name"))
    let tolerance = try fields.valueIfAny("tolerance", as: ToleranceDocument.self)
    let severity = try fields.severity()
    var result = MetricResult(
      rule: try tolerance?.rule(metric, severity)
        ?? GateRule(metric: metric, tolerance: nil, severity: severity),
      unit: try fields.textIfAny("unit") ?? metric.unit(perIteration: false),
      verdict: try fields.choice("verdict"),
      baseline: try fields.valueIfAny("baseline", as: SummaryDocument.self)?.summary,
      current: try fields.valueIfAny("current", as: SummaryDocument.self)?.summary,
      change: try fields.valueIfAny("change", as: ChangeDocument.self)?.change,
      allowed: try tolerance?.fields.numberIfAny("allowed", in: 0...DocumentLimit.amount),
      detectable: try fields.numberIfAny("detectable", in: 0...DocumentLimit.amount),
      resolution: try fields.numberIfAny("resolution", in: 0...DocumentLimit.amount),
      method: try fields.choiceIfAny("method"),
      chance: try fields.numberIfAny("chance", in: 0...1),
      reason: try fields.textIfAny("reason") ?? ""
    )
    result.isUndecided = try fields.flag("undecided")
    self.result = result
  }

  func encode(to encoder: any Encoder) throws {
    let metric = result.rule.metric
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(metric.text, forKey: "name")
    try fields.encode(result.unit, forKey: "unit")
    try fields.encode(result.verdict.rawValue, forKey: "verdict")
    try fields.encode(result.rule.severity.rawValue, forKey: "on")
    try fields.encode(result.reason.boundedStart, forKey: "reason")
    if result.isUndecided { try fields.encode(true, forKey: "undecided") }
    try fields.encodeFigureOrNull(result.detectable, of: metric, forKey: "detectable")
    try fields.encodeFigureOrNull(result.resolution, of: metric, forKey: "resolution")
    try fields.encodeOrNull(result.method?.rawValue, forKey: "method")
    try fields.encodeOrNull(result.chance.map(Self.rounded), forKey: "chance")
    try fields.encodeSummary(result.baseline, of: metric, forKey: "baseline")
    try fields.encodeSummary(result.current, of: metric, forKey: "current")
    try fields.encodeChange(result.change, of: metric)
    var tolerance = fields.nestedContainer(keyedBy: JSONName.self, forKey: "tolerance")
    try tolerance.encodeBounds(of: result.rule)
    if let allowed = result.allowed, allowed.isFinite {
      try tolerance.encode(Figure(allowed, of: metric), forKey: "allowed")
    }
  }
}

extension MetricDocument {
  /// A chance to a millionth, which is far below what anything is told by.
  fileprivate static func rounded(_ chance: Double) -> Double {
    (chance * 1e6).rounded() / 1e6
  }
}

/// What a judged metric was allowed.
private struct ToleranceDocument: Decodable {
  let fields: JSONFields

  init(from decoder: any Decoder) throws {
    fields = try JSONFields(decoder)
  }

  func rule(_ metric: MetricName, _ severity: GateRule.Severity) throws -> GateRule {
    try fields.rule(for: metric, severity: severity)
  }
}

private struct SummaryDocument: Decodable {
  let summary: MetricResult.Summary

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    summary = MetricResult.Summary(
      median: try fields.number("median", in: DocumentLimit.signed),
      count: Int(try fields.wholeIfAny("count", in: 0...Int64(DocumentLimit.repetitions)) ?? 0)
    )
  }
}

private struct ChangeDocument: Decodable {
  let change: MetricResult.Change

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let absolute = try fields.number("absolute", in: DocumentLimit.signed)
    change = MetricResult.Change(
      absolute: absolute,
      percent: try fields.numberIfAny("percent", in: DocumentLimit.signed),
      low: try fields.numberIfAny("low", in: DocumentLimit.signed) ?? absolute,
      high: try fields.numberIfAny("high", in: DocumentLimit.signed) ?? absolute,
      shift: try fields.numberIfAny("shift", in: DocumentLimit.signed)
    )
  }
}

extension DocumentLimit {
  /// What a figure that can fall may be.
  fileprivate static let signed = -amount...amount
}

extension KeyedEncodingContainer<JSONName> {
  fileprivate mutating func encodeFigureOrNull(_ value: Double?, of metric: MetricName, forKey key: JSONName) throws {
    let finite = value.flatMap { $0.isFinite ? $0 : nil }
    try encodeOrNull(finite.map { Figure($0, of: metric) }, forKey: key)
  }

  fileprivate mutating func encodeSummary(
    _ summary: MetricResult.Summary?,
    of metric: MetricName,
    forKey key: JSONName
  ) throws {
    guard let summary, summary.median.isFinite else { return try encodeNil(forKey: key) }
    var fields = nestedContainer(keyedBy: JSONName.self, forKey: key)
    try fields.encode(Figure(summary.median, of: metric), forKey: "median")
    try fields.encode(summary.count, forKey: "count")
  }

  /// Percentages have two decimals, rounded half away from zero.
  fileprivate mutating func encodeChange(_ change: MetricResult.Change?, of metric: MetricName) throws {
    guard let change, change.absolute.isFinite else { return try encodeNil(forKey: "change") }
    var fields = nestedContainer(keyedBy: JSONName.self, forKey: "change")
    try fields.encode(Figure(change.absolute, of: metric), forKey: "absolute")
    try fields.encodeFigureOrNull(change.low, of: metric, forKey: "low")
    try fields.encodeFigureOrNull(change.high, of: metric, forKey: "high")
    try fields.encodeFigureOrNull(change.shift, of: metric, forKey: "shift")
    let hundredths = change.percent.map { ($0 * 100).rounded() / 100 }
    try fields.encodeFigureOrNull(hundredths, of: .growth, forKey: "percent")
  }
}
