import Statistics

extension ScenarioResult {
  /// The growth per iteration that the gate would not notice, if it is more than one would expect; nil if it is not, or if
  /// no rule compares growth per iteration.
  ///
  /// Without a baseline it is that of a check against these values.
  package var hiddenGrowth: HiddenGrowth? {
    let rule = gate.rules.first { $0.metric == .growth && $0.severity == .fail && $0.limit == nil }
    let growths = repetitions.compactMap(\.growth)
    guard summary.growthIsPerIteration, failure == nil, let tolerance = rule?.tolerance, !growths.isEmpty,
      let iterations = Spread.median(growths.compactMap(\.iterations).map(Double.init))
    else { return nil }
    let judged = summary.metrics.first { $0.metric == .growth }
    if judged?.verdict == .regression { return nil }
    let slopes = growths.map(\.slope)
    let allowed = judged?.allowed ?? tolerance.allowed(above: slopes, of: .growth)
    let seen = judged?.detectable ?? detectableGrowth(slopes, allowed: allowed)
    let upTo = max(seen, HiddenGrowth.least(in: Int(iterations)))
    guard upTo > HiddenGrowth.expected else { return nil }
    let isSettling = growths.count { $0.kind == .settling } * 2 > growths.count
    let level = judged?.baseline?.median ?? Spread.median(slopes) ?? 0
    let cause: HiddenGrowth.Cause =
      if isSettling {
        .warmup
      } else if Tolerance.leastGrowth.share * abs(level) >= 0.5 * upTo {
        .level
      } else {
        Int(iterations) < HiddenGrowth.enoughIterations ? .fewIterations : .noise
      }
    return HiddenGrowth(cause, upTo: upTo, iterations: Int(iterations))
  }

  private func detectableGrowth(_ slopes: [Double], allowed: Double) -> Double {
    Detection.smallestShift(
      deviation: Spread.noise(slopes), slopes.count, plan?.min ?? slopes.count, allowed: allowed, hasStatistics: true)
  }

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
