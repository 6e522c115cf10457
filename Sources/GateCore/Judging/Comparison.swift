import Statistics

/// Compares one metric's values with the baseline's; each value is that of one repetition, never a sample.
///
/// - Rise: the shift is above the allowed change, and equal programs differ this much with a probability of at most
///   `alpha`.
/// - Fall: the same in the other direction.
/// - Level: otherwise, if the upper bound of the shift (95 %) is within the allowed change.
/// - Undecided: otherwise.
struct Comparison {
  enum Outcome { case rise, fall, level, undecided }

  let outcome: Outcome
  let method: MetricResult.Method
  let shift: Shift
  /// The probability of such values if nothing changed; nil if the shift is within the allowed change.
  let chance: Double?
  /// The values' distribution over two levels; nil if there is one level.
  var levels: TwoLevels?

  /// Compares by ranks; with too few values for a test, by the shift alone, but only at the last look.
  ///
  /// If the baseline is bimodal with levels further apart than `allowed`, each level is compared with its own. A rise to a
  /// level that the baseline has seen is decided by the last look: repetitions that follow each other are often at the same
  /// level, as long as the machine is as busy.
  init?(from base: [Double], to current: [Double], allowed: Double, alpha: Double, isLast: Bool) {
    guard let shift = Shift(from: base, to: current) else { return nil }
    guard RankTest.smallestPValue(base.count, current.count) <= alpha || !isLast else {
      self.init(.thresholds, shift, shift.estimate > allowed ? .rise : shift.estimate < -allowed ? .fall : .level, nil)
      return
    }
    if let modes = Modes(of: base), modes.gap > allowed {
      self.init(from: base, to: current, by: modes, allowed: allowed, alpha: alpha, isLast: isLast)
      return
    }
    let (outcome, chance) = Self.outcome(of: shift, from: base, to: current, allowed: allowed, alpha: alpha)
    let isEarly = outcome == .rise && !isLast && Self.hasSeen(current, in: base, allowed: allowed)
    self.init(.ranks, shift, isEarly ? .undecided : outcome, chance)
  }

  /// Whether a value of the baseline is an outlier beyond the allowed rise, and as high as the lowest quarter of the current
  /// values.
  private static func hasSeen(_ current: [Double], in base: [Double], allowed: Double) -> Bool {
    guard let highest = base.max(), let level = Spread.median(base), let low = Spread.quantile(current, 0.25) else {
      return false
    }
    return highest > level + max(allowed, Tolerance.noise(of: base)) && highest >= low
  }

  private init(_ method: MetricResult.Method, _ shift: Shift, _ outcome: Outcome, _ chance: Double?) {
    (self.method, self.shift, self.outcome, self.chance) = (method, shift, outcome, chance)
  }

  private static func outcome(
    of shift: Shift,
    from base: [Double],
    to current: [Double],
    allowed: Double,
    alpha: Double
  ) -> (Outcome, chance: Double?) {
    var chance: Double?
    if shift.estimate > allowed {
      let rise = RankTest.pValue(ofRiseFrom: base, to: current)
      if rise <= alpha { return (.rise, rise) }
      chance = rise
    }
    if shift.estimate < -allowed {
      let fall = RankTest.pValue(ofRiseFrom: current, to: base)
      if fall <= alpha { return (.fall, fall) }
      chance = fall
    }
    return (shift.upperBound <= allowed ? .level : .undecided, chance)
  }
}

// MARK: - Two levels

extension Comparison {
  /// Up to this probability, a larger share of the high level is neither shown nor excluded.
  ///
  /// It leaves 0.4 to 1.9 % of equal bimodal programs undecided (ci/calibrate.d/RESULTS.md, A).
  private static let doubt = 0.1

  /// Compares the distances of the values from their nearer levels, and the shares of values at the high level.
  ///
  /// The shift is that of the distances, or that of all values if the shares decided the outcome.
  private init?(
    from base: [Double], to current: [Double], by modes: Modes, allowed: Double, alpha: Double, isLast: Bool
  ) {
    let (before, now) = (modes.distances(of: base), modes.distances(of: current))
    guard let ofLevels = Shift(from: before, to: now), let ofAll = Shift(from: base, to: current) else { return nil }
    let (level, chance) = Self.outcome(of: ofLevels, from: before, to: now, allowed: allowed, alpha: alpha)
    let levels = TwoLevels(
      low: modes.levels.low, high: modes.levels.high, highBefore: modes.high.count,
      highNow: current.count(where: modes.isHigh), countBefore: base.count, countNow: current.count
    )
    var share = Self.outcome(of: levels, base.count, current.count, allowed: allowed, alpha: alpha)
    if share.outcome == .rise, !isLast { share.outcome = .undecided }
    let outcome = [Outcome.rise, .undecided, .fall].first { $0 == level || $0 == share.outcome } ?? .level
    let isOfLevels = outcome == level
    self.init(.levels, isOfLevels ? ofLevels : ofAll, outcome, isOfLevels ? chance : share.chance)
    self.levels = levels
  }

  /// Compares the shares of the high level: a change of the share moves memory by that part of the levels' distance.
  private static func outcome(
    of levels: TwoLevels,
    _ baseCount: Int,
    _ count: Int,
    allowed: Double,
    alpha: Double
  ) -> (outcome: Outcome, chance: Double?) {
    let change = Double(levels.highNow) / Double(count) - Double(levels.highBefore) / Double(baseCount)
    let moved = change * (levels.high - levels.low)
    if moved > allowed {
      let more = FisherTest.pValue(ofRiseFrom: levels.highBefore, of: baseCount, to: levels.highNow, of: count)
      return (more <= alpha ? .rise : more <= doubt ? .undecided : .level, more)
    }
    guard moved < -allowed else { return (.level, nil) }
    let fewer = FisherTest.pValue(ofRiseFrom: levels.highNow, of: count, to: levels.highBefore, of: baseCount)
    return (fewer <= alpha ? .fall : .level, fewer)
  }
}
