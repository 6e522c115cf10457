// Rules for all phases whose names fit, so that the tests of a suite need not be listed.

extension MetricName {
  /// What stands for any text in the name of a phase, as in `phase.test_*.peak_rss`.
  static let anyText: Character = "*"

  /// Whether it stands for the same metric of all phases whose names fit.
  package var isPattern: Bool { inPhase?.phase.contains(Self.anyText) == true }

  /// Whether this pattern stands for a metric.
  func stands(for metric: MetricName) -> Bool {
    guard let (pattern, own) = inPhase, let (phase, other) = metric.inPhase, own == other, !metric.isPattern else {
      return false
    }
    let parts = pattern.split(separator: Self.anyText, omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last, phase.hasPrefix(first) else { return false }
    var rest = phase.dropFirst(first.count)
    for part in parts[1..<(parts.count - 1)] where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}

extension Gate {
  /// Whether a rule stands for phases that only a measurement names.
  var hasPatterns: Bool { rules.contains(where: \.metric.isPattern) }

  /// Adds a rule for each metric that a pattern stands for and that no rule names; of several patterns the first counts.
  mutating func addRules(for metrics: Set<MetricName>) {
    let named = Set(rules.map(\.metric))
    for metric in metrics.subtracting(named).sorted(by: MetricName.isListedBefore) {
      guard var rule = pattern(for: metric) else { continue }
      rule.metric = metric
      rules.append(rule)
    }
  }

  /// The first rule whose pattern stands for a metric.
  func pattern(for metric: MetricName) -> GateRule? {
    rules.first { $0.metric.stands(for: metric) }
  }
}
