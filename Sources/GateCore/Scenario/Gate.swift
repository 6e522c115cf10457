/// Which metrics of a scenario are judged, and how strictly.
package struct Gate: Sendable, Hashable {
  package var rules: [GateRule]
  /// Whether the file says nothing of a gate: then a metric that cannot be had is a note, not a verdict.
  package var isStandard: Bool

  package init(rules: [GateRule], isStandard: Bool = false) {
    self.rules = rules
    self.isStandard = isStandard
  }

  /// `peak_rss` and `steady_rss`, each at the standard tolerance.
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
  package enum Severity: String, Sendable, CaseIterable {
    case fail, warn, off
  }

  package var metric: MetricName
  /// nil: only the limit counts, and no baseline is needed.
  package var tolerance: Tolerance?
  /// The most that the metric may be.
  package var limit: Amount?
  package var severity: Severity

  package init(metric: MetricName, tolerance: Tolerance?, limit: Amount? = nil, severity: Severity = .fail) {
    self.metric = metric
    self.tolerance = tolerance
    self.limit = limit
    self.severity = severity
  }
}

/// How much worse than its baseline a metric may be.
package enum Tolerance: Sendable, Hashable {
  /// The larger of the two counts; nil is not given.
  case bounds(relative: Percent?, absolute: Amount?)
  /// Taken from the spread of the baseline's own values.
  case automatic

  /// One page more must not fail a 2 MB tool, nor 3 % pass unseen in a server (judging.md, Tolerances and limits).
  ///
  /// Of 378 checks of 27 unchanged programs 370 passed at it, with no false alarm (ci/calibrate.d/REAL.md).
  package static let standard = Tolerance.bounds(relative: Percent(3), absolute: .kibibytes(512))

  /// The tolerance of a rule that gives none; nil for growth, which has no level that could be a share of anything.
  ///
  /// A figure of the target's own has no least that would be too small to matter in all programs.
  package static func standard(of metric: MetricName) -> Tolerance? {
    if metric.isValue { return .bounds(relative: Percent(3), absolute: nil) }
    return metric == .growth ? nil : .standard
  }
}
