/// The metrics of a scenario that are judged, with their rules.
package struct Gate: Sendable, Hashable, Codable {
  package var rules: [GateRule]
  /// Whether the project file has no gate: only metrics that the scenario can have are then judged, and an unavailable
  /// one is a note.
  package var isStandard: Bool

  package init(rules: [GateRule], isStandard: Bool = false) {
    self.rules = rules
    self.isStandard = isStandard
  }

  /// The peak and the level of the program, those of the whole tree, and growth, each with the default tolerance.
  package static let standard = standard(ofTree: true)

  /// The default gate; without the tree if the project file names the main process.
  package static func standard(ofTree includesTree: Bool) -> Gate {
    let metrics = WholeRunMetric.allCases.filter { metric in
      metric.row.isStandard && (includesTree || metric.row.scope != .tree)
    }
    let ordered = (metrics.filter { !$0.row.kind.isRate } + metrics.filter(\.row.kind.isRate)).map(\.name)
    return Gate(rules: ordered.map { GateRule(metric: $0, tolerance: .standard(of: $0)) }, isStandard: true)
  }
}

/// How one metric is judged.
package struct GateRule: Sendable, Hashable {
  package enum Severity: String, Sendable, CaseIterable, Codable {
    case fail, warn, off
  }

  package var metric: MetricName
  /// nil if only the limit counts, which needs no baseline.
  package var tolerance: Tolerance?
  /// The largest value that the metric may have.
  package var limit: Amount?
  package var severity: Severity
  /// Whether fewer than the baseline or the limit fail as well, so that both stay what the program needs.
  package var isExact = false

  package init(metric: MetricName, tolerance: Tolerance?, limit: Amount? = nil, severity: Severity = .fail) {
    self.metric = metric
    self.tolerance = tolerance
    self.limit = limit
    self.severity = severity
  }
}

/// How far a metric may exceed its baseline.
package enum Tolerance: Sendable, Hashable {
  /// The larger of the two counts; nil if the rule does not have it.
  case bounds(relative: Percent?, absolute: Amount?)
  /// `auto`: derived from the level and the noise of the baseline's values.
  case automatic

  /// The tolerance of a rule without one: `auto`, 20 % and 50 for instances, 1 % for allocations, and 3 % for a reported
  /// value, in whose unit no amount is known to be insignificant.
  package static func standard(of metric: MetricName) -> Tolerance {
    if CountMetric(metric) != nil { return .bounds(relative: Percent(1), absolute: nil) }
    if metric.isInstances { return .bounds(relative: Percent(20), absolute: .number(50)) }
    return metric.isValue ? .bounds(relative: Percent(3), absolute: nil) : .automatic
  }
}
