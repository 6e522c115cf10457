/// What is to be said of a leak that no rule looks at: levels and peaks may stay within their tolerances for long.
package enum GrowthNote {
  /// One sentence where more than half of the repetitions leak and no rule of the gate is of growth, with what would
  /// judge it; nothing elsewhere.
  package static func notes(on measured: ScenarioMeasurements) -> [String] {
    let leaks = measured.repetitions.compactMap(\.growth).filter { $0.kind == .leaking }
    let middle = leaks.sorted { $0.slope < $1.slope }.dropFirst(leaks.count / 2).first
    guard let middle, leaks.count * 2 > measured.repetitions.count, measured.failure == nil,
      !measured.gate.rules.contains(where: { $0.metric == .growth })
    else { return [] }
    let unit = MetricName.growth.unit(perIteration: measured.growthIsPerIteration)
    func amount(_ value: Double) -> String { MetricUnit.text(of: value, unit: unit) }
    let figures = "\(amount(middle.slope)) (95 %: \(amount(middle.low)) to \(amount(middle.high)))"
    return [
      "memory leaks in \(leaks.count) of \(measured.repetitions.count) repetitions, by \(figures), and no rule of the "
        + "gate looks at growth; to judge it, \(advice(limit: limit(for: middle), measured))"
    ]
  }

  /// Half of what leaks, rounded down to a power of two: a figure to start from.
  private static func limit(for leak: Growth) -> Bytes {
    let half = UInt64(Bytes(clampedFrom: max(1, leak.slope / 2)).count)
    return Bytes(1 << (UInt64.bitWidth - 1 - half.leadingZeroBitCount))
  }

  /// A gate that is written takes the place of the standard one, whose rules must then be written, too, but for those
  /// that most repetitions have no figure for.
  private static func advice(limit: Bytes, _ measured: ScenarioMeasurements) -> String {
    let rule = GateRule(metric: .growth, tolerance: nil, limit: .size(limit)).spelled
    guard measured.gate.isStandard else { return "add `\(rule)` to its `gate`" }
    let others = measured.gate.rules.filter { rule in
      measured.repetitions.count { $0.allMetrics[rule.metric] != nil } * 2 > measured.repetitions.count
    }
    let rules = others.map(\.spelled) + [rule]
    return "write `gate: {\(rules.joined(separator: ", "))}`"
  }
}
