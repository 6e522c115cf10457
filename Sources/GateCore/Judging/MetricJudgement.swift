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
  /// of so few values may be a third too low (ci/calibration/RESULTS.md, E: 0.9 % of equal programs are undecided at it).
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
    var result = MetricResult(rule: rule, unit: unit, verdict: .pass, current: summary(current))
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
      result.reason = "the baseline has no \(metric)"
      return
    }
    let allowed = tolerance.allowed(beside: baseline, of: metric)
    let comparison = Comparison(
      from: baseline, to: current, allowed: allowed,
      alpha: plan.alpha(at: repetitions, against: baseline.count), isLast: plan.isLast(repetitions)
    )
    guard let comparison else { return }
    let change = (Spread.median(current) ?? 0) - base
    result.baseline = summary(baseline)
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
    (result.verdict, result.reason) = verdict(of: comparison, allowed: allowed)
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

  private func verdict(of comparison: Comparison, allowed: Double) -> (Verdict, String) {
    let shift = comparison.shift
    switch comparison.outcome {
    case .rise where shift.estimate > 0:
      let reason = "\(metric) rose by \(text(shift.estimate)), and \(text(allowed)) are tolerated"
      return (.regression, reason + words(on: comparison))
    case .rise:
      return (.regression, "\(metric) is more often at the higher of its two levels" + words(on: comparison))
    case .fall:
      return (.improved, "\(metric) fell by \(text(-shift.estimate))" + words(on: comparison))
    case .undecided:
      let reason = "a rise of up to \(text(shift.upperBound)) cannot be ruled out, and \(text(allowed)) are tolerated"
      return (.inconclusive, reason + words(on: comparison))
    case .level:
      return (.pass, "")
    }
  }

  /// What a person has to know of how it was told.
  private func words(on comparison: Comparison) -> String {
    if let levels = comparison.levels, let base = baseline?.count {
      return "; its values jump between \(text(levels.low)) and \(text(levels.high)): "
        + "\(levels.highBefore) of \(base) were at the higher level, \(levels.highNow) of \(current.count) are now"
    }
    guard comparison.method == .thresholds else { return "" }
    return "; no statistics: \(current.count) against \(baseline?.count ?? 0) values are too few to tell chance apart"
  }

  private func summary(_ values: [Double]) -> MetricResult.Summary? {
    Spread.median(values).map { MetricResult.Summary(median: $0, count: values.count) }
  }

  private func text(_ value: Double) -> String {
    MetricUnit.text(of: value, unit: unit)
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
    let above = "\(metric) is above its limit of \(text(limit))"
    if low > limit, !isSettling {
      (result.verdict, result.isUndecided) = (.regression, false)
      result.reason = low < level ? "\(above), in 95 % of all cases by \(text(low - limit)) or more" : above
    } else if high > limit, result.verdict != .regression {
      (result.verdict, result.isUndecided) = (.inconclusive, !isSettling)
      result.reason =
        isSettling
        ? "\(above), but becomes less all the time: a longer scenario may show memory settled"
        : "\(metric) lies between \(text(low)) and \(text(high)) (95 %), and its limit is \(text(limit))"
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
