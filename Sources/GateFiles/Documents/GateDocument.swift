import GateCore

/// The rules by which a scenario was judged, so that `compare` can judge it again.
struct GateDocument: Codable {
  let gate: Gate

  init(_ gate: Gate) {
    self.gate = gate
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let rules = try fields.list("rules", of: RuleDocument.self).map(\.rule)
    gate = Gate(rules: rules, isStandard: try fields.flag("standard"))
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(gate.isStandard, forKey: "standard")
    try fields.encode(gate.rules.map(RuleDocument.init), forKey: "rules")
  }
}

private struct RuleDocument: Codable {
  let rule: GateRule

  init(_ rule: GateRule) {
    self.rule = rule
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    rule = try fields.rule(for: MetricName(try fields.name("metric")), severity: try fields.severity())
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(rule.metric.text, forKey: "metric")
    try fields.encode(rule.severity.rawValue, forKey: "on")
    try fields.encodeBounds(of: rule)
  }
}

extension JSONFields {
  /// The tolerance and limit that stand in this object.
  func rule(for metric: MetricName, severity: GateRule.Severity) throws -> GateRule {
    let relative = try numberIfAny("percent", in: 0...10_000).map { Percent($0) }
    let absolute = try boundIfAny("absolute", of: metric)
    let isBounded = relative != nil || absolute != nil
    let bounds = isBounded ? Tolerance.bounds(relative: relative, absolute: absolute) : nil
    return GateRule(
      metric: metric,
      tolerance: try flag("automatic") ? .automatic : bounds,
      limit: try boundIfAny("limit", of: metric),
      severity: severity
    )
  }

  /// A size, unless `amounts` says that it is a span in seconds or a bare number.
  private func boundIfAny(_ key: JSONName, of metric: MetricName) throws -> Amount? {
    guard metric.isValue, let kind = try choiceIfAny("amounts", as: AmountKind.self) else {
      return try amountIfAny(key).map(Amount.size)
    }
    switch kind {
    case .seconds: return try secondsIfAny(key).map(Amount.time)
    case .number: return try numberIfAny(key, in: 0...DocumentLimit.amount).map(Amount.number)
    }
  }

  func severity() throws -> GateRule.Severity {
    try choiceIfAny("on") ?? .fail
  }
}

extension KeyedEncodingContainer<JSONName> {
  /// Writes what a rule allows: `percent`, `absolute` and `limit` always, `automatic` where it is so.
  mutating func encodeBounds(of rule: GateRule) throws {
    var bounds: (relative: Percent?, absolute: Amount?)
    if case .bounds(let relative, let absolute) = rule.tolerance { bounds = (relative, absolute) }
    try encodeOrNull(bounds.relative?.value, forKey: "percent")
    try encodeOrNull(bounds.absolute.map(BoundFigure.init), forKey: "absolute")
    try encodeOrNull(rule.limit.map(BoundFigure.init), forKey: "limit")
    try encodeIfPresent((bounds.absolute ?? rule.limit).flatMap(AmountKind.init)?.rawValue, forKey: "amounts")
    if rule.tolerance == .automatic { try encode(true, forKey: "automatic") }
  }
}

/// What the amounts of a rule are, where they are no sizes; those of one rule are alike, or its figures fit none.
private enum AmountKind: String, CaseIterable {
  case seconds, number

  init?(_ amount: Amount) {
    switch amount {
    case .size: return nil
    case .time: self = .seconds
    case .number: self = .number
    }
  }
}

/// A bound in the terms of its metric: whole bytes, seconds, or a number.
private struct BoundFigure: Encodable {
  let amount: Amount

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let whole = Int64(exactly: amount.value) {
      try container.encode(whole)
    } else {
      try container.encode(amount.value)
    }
  }
}
