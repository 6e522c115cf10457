extension ScenarioResult {
  /// Growth in most repetitions that no rule covers: levels and peaks may stay within their tolerances for long.
  package var noteOnUngatedGrowth: Note? {
    let growing = repetitions.compactMap(\.growth).filter { $0.kind == .continuous }
    let middle = growing.sorted { $0.slope < $1.slope }.dropFirst(growing.count / 2).first
    guard let middle, growing.count * 2 > repetitions.count, failure == nil, !isGrowthCovered else { return nil }
    return .ungatedGrowth(
      growth: middle, count: growing.count, total: repetitions.count, limit: .size(Self.limit(for: middle)))
  }

  /// The default gate covers growth only per iteration.
  private var isGrowthCovered: Bool {
    (!gate.isStandard || summary.growthIsPerIteration) && gate.rules.contains { $0.metric == .growth }
  }

  /// The gate with a rule that limits growth.
  ///
  /// A gate in the project file replaces the default gate, so the rules that were applied are included.
  package func gate(limitingGrowthTo limit: Amount) -> Gate {
    let rules = gate.rules.filter { rule in
      rule.metric != .growth && (!gate.isStandard || summary.metrics.contains { $0.metric == rule.metric })
    }
    return Gate(rules: rules + [GateRule(metric: .growth, tolerance: nil, limit: limit)])
  }

  /// Half the growth, rounded down to a power of two: an initial limit.
  private static func limit(for growth: Growth) -> Bytes {
    let half = UInt64(Bytes(clampedFrom: max(1, growth.slope / 2)).count)
    return Bytes(1 << (UInt64.bitWidth - 1 - half.leadingZeroBitCount))
  }
}
