/// Which metrics of a scenario are judged, and by which rules.
package struct Gate: Sendable, Hashable, Codable {
  package var rules: [GateRule]
  /// Whether the project file has no gate: then an unavailable metric is a note and no verdict.
  package var isStandard: Bool

  package init(rules: [GateRule], isStandard: Bool = false) {
    self.rules = rules
    self.isStandard = isStandard
  }

  /// `peak_rss` and `steady_rss`, each with the default tolerance.
  package static let standard = Gate(
    rules: [
      GateRule(metric: .peakRSS, tolerance: .standard),
      GateRule(metric: .steadyRSS, tolerance: .standard),
    ],
    isStandard: true
  )
}

/// How one metric is judged.
package struct GateRule: Sendable, Hashable {
  package enum Severity: String, Sendable, CaseIterable, Codable {
    case fail, warn, off
  }

  package var metric: MetricName
  /// nil where only the limit counts and no baseline is needed.
  package var tolerance: Tolerance?
  /// The largest value that the metric may have.
  package var limit: Amount?
  package var severity: Severity

  package init(metric: MetricName, tolerance: Tolerance?, limit: Amount? = nil, severity: Severity = .fail) {
    self.metric = metric
    self.tolerance = tolerance
    self.limit = limit
    self.severity = severity
  }
}

/// How far above its baseline a metric may be.
package enum Tolerance: Sendable, Hashable {
  /// The larger of the two counts; nil where the rule does not give it.
  case bounds(relative: Percent?, absolute: Amount?)
  /// Taken from the spread of the baseline's own values.
  case automatic

  /// One page more must not fail a tool of 2 MB, and a rise of more than 3 % in a server must (judging.md, Tolerances and limits).
  ///
  /// Of 378 checks of 27 unchanged programs, 370 passed, and none was a false alarm (ci/calibrate.d/REAL.md).
  package static let standard = Tolerance.bounds(relative: Percent(3), absolute: .kibibytes(512))

  /// The tolerance of a rule that gives none; nil for growth, which is judged by a limit.
  ///
  /// A value that the target reports has no absolute part: no amount is too small to matter in every unit.
  package static func standard(of metric: MetricName) -> Tolerance? {
    if metric.isValue { return .bounds(relative: Percent(3), absolute: nil) }
    return metric == .growth ? nil : .standard
  }
}
