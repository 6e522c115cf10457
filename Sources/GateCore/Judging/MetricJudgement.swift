import Statistics

extension Tolerance {
  /// The least that `auto` allows.
  ///
  /// Of equal runs of 40 programs the highest peak was 146 KiB above the lowest in the median; what one day's runs leave
  /// of that is not in their spread.
  private static let leastAutomatic = Double(Bytes.kibibytes(128).count)

  /// What the tolerance allows beside these baseline values, in the metric's unit.
  ///
  /// `auto` is two and a half standard deviations of the baseline (within a level, where it jumps between two), and at
  /// least 128 KiB and 0.5 %: two of them are what 5 values need to be told equal to 10 in most cases, and the deviation
  /// of so few values may be a third too low (ci/calibrate.d/RESULTS.md, E: 0.9 % of equal programs are undecided at it).
  /// What a target reports itself has no such least of memory, only the 0.5 %.
  /// Where repetitions depend on each other it promises nothing: a machine's drift is not in their spread.
  package func allowed(beside baseline: [Double], of metric: MetricName = .peakRSS) -> Double {
    let level = abs(Spread.median(baseline) ?? 0)
    switch self {
    case .bounds(let relative, let absolute):
      return max((relative?.value ?? 0) / 100 * level, absolute?.value ?? 0)
    case .automatic:
      let parts = Self.automaticParts(beside: baseline)
      return metric.isValue ? parts.relative : max(parts.relative, parts.absolute)
    }
  }

  /// What `auto` is the larger of: what goes with the metric's level, and what is allowed at any level.
  static func automaticParts(beside baseline: [Double]) -> (relative: Double, absolute: Double) {
    let values = Modes(of: baseline)?.distances(of: baseline) ?? baseline
    let level = abs(Spread.median(baseline) ?? 0)
    return (max(2.5 * Spread.noise(values), 0.005 * level), leastAutomatic)
  }
}

/// How the values of one metric are judged against its rule.
struct MetricJudgement {
  let rule: GateRule
  let unit: String
  /// One value for each repetition that had the metric; not empty.
  let current: [Double]
  /// nil where there is no baseline to compare with.
  let baseline: [Double]?
  let missingBaseline: Verdict
  let plan: RepetitionPlan
  /// How many repetitions there are, those without the metric too.
  let repetitions: Int
  /// How growth went in the repetitions in which that is known.
  let growth: [Growth]

  private var metric: MetricName { rule.metric }

  var result: MetricResult {
    var result = MetricResult(rule: rule, unit: unit, verdict: .pass, current: ValueSummary(current))
    if let tolerance = rule.tolerance {
      compare(&result, tolerance)
    }
    if let limit = rule.limit {
      hold(&result, to: limit.value)
    }
    return result
  }

  private func compare(_ result: inout MetricResult, _ tolerance: Tolerance) {
    guard let baseline, let base = Spread.median(baseline) else {
      result.verdict = missingBaseline
      result.reason = .notInBaseline
      return
    }
    let allowed = tolerance.allowed(beside: baseline, of: metric)
    let comparison = Comparison(
      from: baseline, to: current, allowed: allowed,
      alpha: plan.alpha(at: repetitions, against: baseline.count), isLast: plan.isLast(repetitions)
    )
    guard let comparison else { return }
    let change = (Spread.median(current) ?? 0) - base
    result.baseline = ValueSummary(baseline)
    result.change = MetricResult.Change(
      absolute: change,
      percent: base > 0 ? change / base * 100 : nil,
      low: comparison.shift.interval.lowerBound,
      high: comparison.shift.interval.upperBound,
      shift: comparison.shift.estimate
    )
    result.allowed = allowed
    result.method = comparison.method
    result.chance = comparison.chance
    measureNoise(&result, comparison, beside: baseline, allowed)
    (result.verdict, result.reason) = verdict(of: comparison)
    result.isUndecided = comparison.outcome == .undecided
  }

  /// A page is the least that resident memory can move by.
  static let leastDeviation = 4096.0

  private func measureNoise(
    _ result: inout MetricResult,
    _ comparison: Comparison,
    beside baseline: [Double],
    _ allowed: Double
  ) {
    let least = metric.isWholeBytes ? Self.leastDeviation : 0
    let modes = comparison.method == .levels ? Modes(of: baseline) : nil
    let (before, now) = (modes?.distances(of: baseline) ?? baseline, modes?.distances(of: current) ?? current)
    result.detectable = Detection.smallestShift(
      deviation: max(least, Detection.pooledDeviation(before, now)), baseline.count, current.count,
      allowed: allowed, hasStatistics: comparison.method != .thresholds
    )
    result.resolution = Detection.smallestShift(
      deviation: max(least, Spread.noise(before)), baseline.count, plan.min, allowed: 0
    )
  }

  private func verdict(of comparison: Comparison) -> (Verdict, VerdictReason?) {
    switch comparison.outcome {
    case .rise: (.regression, comparison.levels.map { .levels($0, .rise) } ?? .rise)
    case .fall: (.improved, comparison.levels.map { .levels($0, .fall) } ?? .fall)
    case .undecided:
      (
        .inconclusive,
        comparison.levels.map { .levels($0, .undecided(upTo: comparison.shift.upperBound)) }
          ?? .undecided(upTo: comparison.shift.upperBound)
      )
    case .level: (.pass, nil)
    }
  }
}

// MARK: - Limits

extension MetricJudgement {
  /// Holds the median to an absolute limit, which needs no baseline; growth by its bounds.
  private func hold(_ result: inout MetricResult, to limit: Double) {
    guard let level = result.current?.median else { return }
    // Of an old result no interval is known.
    let bounds = growth.isEmpty ? level...level : growthBounds
    let (low, high) = (min(bounds.lowerBound, level), max(bounds.upperBound, level))
    let isSettling = growth.count { $0.kind == .settling } * 2 > current.count
    if low > limit, !isSettling {
      (result.verdict, result.isUndecided) = (.regression, false)
      result.reason = .aboveLimit(atLeastBy: low < level ? low - limit : nil)
    } else if high > limit, result.verdict != .regression {
      (result.verdict, result.isUndecided) = (.inconclusive, !isSettling)
      result.reason = isSettling ? .aboveLimitWhileSettling : .nearLimit(low: low, high: high)
    }
  }

  /// Between which slopes the true one lies: the middle repetition's interval, or that of the slopes where it is narrower.
  ///
  /// Each alone errs in at most one of twenty cases upwards; downwards the slopes' share that of the look.
  private var growthBounds: ClosedRange<Double> {
    let low = Spread.median(growth.map(\.low)) ?? -.infinity
    let high = Spread.median(growth.map(\.high)) ?? .infinity
    let share = plan.alpha(at: repetitions, against: current.count)
    let lowest = Pseudomedian.bounds(of: current, perSide: share)?.lowerBound ?? -.infinity
    let highest = Pseudomedian.bounds(of: current, perSide: 0.05)?.upperBound ?? .infinity
    let (least, most) = (max(low, lowest), min(high, highest))
    return min(least, most)...max(least, most)
  }
}

extension Bytes {
  /// The nearest whole count of bytes; what lies beyond the range of a file's figures is cut there.
  package init(clampedFrom value: Double) {
    let limit = Double(Bytes.largest.count)
    self.init(value.isNaN ? 0 : Int64(min(max(value, -limit), limit).rounded()))
  }
}
