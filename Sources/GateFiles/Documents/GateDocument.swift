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
    let absolute = try amountIfAny("absolute")
    let isBounded = relative != nil || absolute != nil
    let bounds = isBounded ? Tolerance.bounds(relative: relative, absolute: absolute) : nil
    return GateRule(
      metric: metric,
      tolerance: try flag("automatic") ? .automatic : bounds,
      limit: try amountIfAny("limit"),
      severity: severity
    )
  }

  func severity() throws -> GateRule.Severity {
    try choiceIfAny("on") ?? .fail
  }
}

extension KeyedEncodingContainer<JSONName> {
  /// Writes what a rule allows: `percent`, `absolute` and `limit` always, `automatic` where it is so.
  mutating func encodeBounds(of rule: GateRule) throws {
    var bounds: (relative: Percent?, absolute: Bytes?)
    if case .bounds(let relative, let absolute) = rule.tolerance { bounds = (relative, absolute) }
    try encodeOrNull(bounds.relative?.value, forKey: "percent")
    try encodeOrNull(bounds.absolute?.count, forKey: "absolute")
    try encodeOrNull(rule.limit?.count, forKey: "limit")
    if rule.tolerance == .automatic { try encode(true, forKey: "automatic") }
  }
}
