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
    let metrics: [MetricName] = [.peakRSS, .steadyRSS] + (includesTree ? [.treePeak, .treeSteady] : []) + [.growth]
    return Gate(rules: metrics.map { GateRule(metric: $0, tolerance: .standard(of: $0)) }, isStandard: true)
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
  /// Derived from the spread of the baseline's values.
  case automatic
  /// The same with a larger minimum, the larger of the two.
  case automaticAtLeast(relative: Percent, absolute: Amount)

  /// A tool of 2 MB must not fail because of one page, and a server must fail if it rises by more than 3 % (judging.md,
  /// Tolerances and limits).
  ///
  /// Of 108 checks of 27 unchanged programs, 104 passed, and none was a false alarm (ci/calibrate.d/REAL.md).
  package static let standard = Tolerance.bounds(relative: Percent(3), absolute: .kibibytes(512))

  /// The tolerance of a rule without one.
  ///
  /// A reported value has no absolute part: no amount is insignificant in every unit. The noise of growth depends on
  /// the program and on the number of iterations, and that of a tree on how many processes peak at once, so these
  /// tolerances follow from the baseline.
  package static func standard(of metric: MetricName) -> Tolerance {
    if metric.isValue { return .bounds(relative: Percent(3), absolute: nil) }
    if metric.isOfTree { return .automaticAtLeast(relative: Percent(3), absolute: .kibibytes(512)) }
    return metric == .growth ? .automatic : .standard
  }
}
