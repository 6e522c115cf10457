extension ScenarioResult {
  /// Growth in most repetitions that no gate rule covers: levels and peaks may stay within their tolerances for long.
  package var noteOnUngatedGrowth: Note? {
    let leaks = repetitions.compactMap(\.growth).filter { $0.kind == .leaking }
    let middle = leaks.sorted { $0.slope < $1.slope }.dropFirst(leaks.count / 2).first
    guard let middle, leaks.count * 2 > repetitions.count, failure == nil,
      !gate.rules.contains(where: { $0.metric == .growth })
    else { return nil }
    return .ungatedGrowth(
      growth: middle, count: leaks.count, total: repetitions.count, limit: .size(Self.limit(for: middle)))
  }

  /// The gate with a rule that limits growth.
  ///
  /// A gate in the project file replaces the default gate, so the default rules are included, except for metrics that
  /// most repetitions lack.
  package func gate(limitingGrowthTo limit: Amount) -> Gate {
    let rules = gate.rules.filter { rule in
      !gate.isStandard || repetitions.count { $0.allMetrics[rule.metric] != nil } * 2 > repetitions.count
    }
    return Gate(rules: rules + [GateRule(metric: .growth, tolerance: nil, limit: limit)])
  }

  /// Half the growth, rounded down to a power of two: an initial limit.
  private static func limit(for leak: Growth) -> Bytes {
    let half = UInt64(Bytes(clampedFrom: max(1, leak.slope / 2)).count)
    return Bytes(1 << (UInt64.bitWidth - 1 - half.leadingZeroBitCount))
  }
}
