import Statistics

extension Tolerance {
  /// The most that noise may add to the tolerance of memory, as a share of the level.
  ///
  /// A rise of more than a tenth must not pass because the program is noisy: a noisier one takes more repetitions, or
  /// is inconclusive.
  private static let mostForNoise = 0.1

  /// The bounds of `auto`: at least the larger of a share of the level and an amount, whatever the noise.
  package struct Bounds: Sendable, Equatable {
    package let share: Double
    package let amount: Double
    /// The most that noise may add, as a share of the level; nil without a maximum.
    package let mostForNoise: Double?

    /// For memory: how far the figures of unchanged programs drift from day to day, machine to machine and build to
    /// build, which the noise of one run does not show (ci/calibrate.d/DRIFT.md).
    package static let memory = Bounds(
      share: 0.01, amount: Double(Bytes.kibibytes(256).count), mostForNoise: Tolerance.mostForNoise)

    /// For growth, per iteration or second: sound programs nearly all grow by 0.0 bytes per iteration, leaking ones by
    /// 32 bytes to 44 KB.
    package static let growth = Bounds(share: 0.1, amount: 128, mostForNoise: nil)

    /// For bytes per item: of equal runs with 64,000 items, those of redis differ by less than a byte.
    package static let perItem = Bounds(share: 0.005, amount: 0.5, mostForNoise: Tolerance.mostForNoise)

    /// For reported values, in whose unit no amount is known to be insignificant.
    package static let reported = Bounds(share: 0.005, amount: 0, mostForNoise: nil)
  }

  /// The largest rise above these baseline values that the tolerance allows, in the metric's unit.
  ///
  /// `auto` is 2.5 standard deviations of the baseline (within a level, if it is bimodal), at most 10 %, and at least
  /// 1 % and 256 KiB. With two deviations, 5 equal values are found equal to 10 in most cases, and the deviation of so
  /// few values may be a third too low (ci/calibrate.d/RESULTS.md, E). Values that the target reports have no bounds in
  /// their unit, only a minimum of 0.5 %; growth has a minimum of 10 % and 128 bytes, and no maximum.
  package func allowed(above baseline: [Double], of metric: MetricName) -> Double {
    let level = abs(Spread.median(baseline) ?? 0)
    switch self {
    case .bounds(let relative, let absolute):
      return max((relative?.value ?? 0) / 100 * level, absolute?.value ?? 0)
    case .automatic:
      guard let bounds = metric.kind.automaticBounds else {
        return Self.standard(of: metric).allowed(above: baseline, of: metric)
      }
      let noise = Self.noise(of: baseline)
      let counted = bounds.mostForNoise.map { min(noise, $0 * level) } ?? noise
      return max(counted, bounds.share * level, bounds.amount)
    }
  }

  /// What is allowed besides for an uncertain level: 1 of 100 is farther off.
  ///
  /// As with noise, a rise of memory by more than a tenth must not pass.
  /// The quantile is that of Student's distribution with 4 degrees of freedom: the deviation is known by the quartiles of 10
  /// values, which are as good as the squares of 5 (the median absolute deviation has an efficiency of 37 %).
  static func allowed(forUncertainty deviation: Double, at level: Double, of metric: MetricName) -> Double {
    let allowed = 3.747 * deviation
    return metric.isRate ? allowed : min(allowed, mostForNoise * abs(level))
  }

  /// What the noise of values calls for: 2.5 standard deviations, within a level if the values jump between two.
  static func noise(of values: [Double]) -> Double {
    2.5 * Spread.noise(Modes(of: values)?.distances(of: values) ?? values)
  }
}

extension MetricKind {
  /// nil for what is counted, whose `auto` is their default tolerance: equal runs have equal numbers.
  package var automaticBounds: Tolerance.Bounds? {
    switch self {
    case .peak, .steadyLevel, .height, .remainder, .rate: .memory
    case .slope: .growth
    case .reported: .reported
    case .perItem: .perItem
    case .instances, .count, .countedBytes: nil
    }
  }
}

/// The values of one metric and the rule that judges them.
struct MetricJudgement {
  let rule: GateRule
  let unit: String
  /// One value for each repetition that has the metric; not empty.
  let current: [Double]
  /// nil if there is no baseline to compare with.
  let baseline: [Double]?
  /// The standard deviation of the baseline's level, beyond that of measured values (``Baseline/uncertainties``).
  var uncertainty = 0.0
  let missingBaseline: Verdict
  let plan: RepetitionPlan
  /// The number of repetitions, including those without the metric.
  let repetitions: Int
  /// The growth of the repetitions in which it is known.
  let growth: [Growth]

  private var metric: MetricName { rule.metric }

  var result: MetricResult {
    var result = MetricResult(rule: rule, unit: unit, verdict: .pass, current: ValueSummary(current))
    if let tolerance = rule.tolerance {
      compare(&result, tolerance)
    }
    if let limit = rule.limit {
      compare(&result, withLimit: limit.value)
    }
    return result
  }

  private func compare(_ result: inout MetricResult, _ tolerance: Tolerance) {
    guard let baseline, let base = Spread.median(baseline) else {
      result.verdict = missingBaseline
      result.reason = .notInBaseline
      return
    }
    let allowed =
      max(tolerance.allowed(above: baseline, of: metric), tolerance == .automatic ? hiddenGrowth : 0)
      + Tolerance.allowed(forUncertainty: uncertainty, at: base, of: metric)
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
    measureNoise(&result, comparison, baseline, allowed: allowed)
    (result.verdict, result.reason) = verdict(of: comparison)
    result.isUndecided = comparison.outcome == .undecided
  }

  /// Resident memory changes by whole pages.
  static let leastDeviation = Double(Bytes.usualPage.count)

  private func measureNoise(
    _ result: inout MetricResult,
    _ comparison: Comparison,
    _ baseline: [Double],
    allowed: Double
  ) {
    let least = metric.isWholeBytes && metric.kind != .countedBytes ? Self.leastDeviation : 0
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
    case .rise where isSettling: (.inconclusive, .riseWhileSettling)
    case .rise: (.regression, comparison.levels.map { .levels(levels: $0, outcome: .rise) } ?? .rise)
    case .fall: (.improved, comparison.levels.map { .levels(levels: $0, outcome: .fall) } ?? .fall)
    case .undecided:
      (
        .inconclusive,
        comparison.levels.map { .levels(levels: $0, outcome: .undecided(upTo: comparison.shift.upperBound)) }
          ?? .undecided(upTo: comparison.shift.upperBound)
      )
    case .level: (.pass, comparison.levels.map { .levels(levels: $0, outcome: .level) })
    }
  }
}

extension MetricJudgement {
  /// Whether growth slows down in most repetitions, so that it may be the end of a warm-up.
  private var isSettling: Bool { growth.count { $0.kind == .settling } * 2 > current.count }

  /// The growth per iteration that so few iterations cannot show, which `auto` allows: programs take memory in pieces, whose
  /// time differs from run to run.
  ///
  /// Of a Node.js server with 20 iterations, 5 repetitions grew by 1 KiB per iteration each, and 10 later ones by 0.7 to
  /// 17 KiB; of a Python server with 50, most did not grow, and one grew by 5 KiB (2026-11).
  private var hiddenGrowth: Double {
    Spread.median(growth.compactMap(\.iterations).map(Double.init)).map { HiddenGrowth.least(in: Int($0)) } ?? 0
  }
}

// MARK: - Limits

extension MetricJudgement {
  /// Compares the median, or the bounds of growth, with an absolute limit; no baseline is needed.
  private func compare(_ result: inout MetricResult, withLimit limit: Double) {
    guard let level = result.current?.median else { return }
    // Results of earlier versions have no interval.
    let bounds = growth.isEmpty ? level...level : growthBounds
    let (low, high) = (min(bounds.lowerBound, level), max(bounds.upperBound, level))
    if low > limit, !isSettling {
      (result.verdict, result.isUndecided) = (.regression, false)
      result.reason = .aboveLimit(atLeastBy: low < level ? low - limit : nil)
    } else if high > limit, result.verdict != .regression {
      (result.verdict, result.isUndecided) = (.inconclusive, !isSettling)
      result.reason = isSettling ? .aboveLimitWhileSettling : .nearLimit(low: low, high: high)
    }
  }

  /// The bounds of the true slope: the interval of the median repetition, or that of all slopes if it is narrower.
  ///
  /// Either upper bound is too low in at most one of twenty cases; the lower bound of all slopes is too high with the
  /// probability of the look.
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
