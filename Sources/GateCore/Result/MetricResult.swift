import Statistics

/// One metric of one scenario: its values and, where a rule of the gate judges it, the verdict.
package struct MetricResult: Sendable, Hashable {
  package var rule: GateRule
  package var unit: String
  /// `skipped` where no rule judges it.
  package var verdict: Verdict
  package var baseline: ValueSummary?
  package var current: ValueSummary?
  package var change: Change?
  /// The largest rise that the tolerance allows, in the metric's unit.
  package var allowed: Double?
  /// The smallest change that this comparison could have detected.
  package var detectable: Double?
  /// The smallest change that a check by this plan can detect with the noise of the baseline, without a tolerance.
  package var resolution: Double?
  /// Whether noise alone made the verdict inconclusive, so that more repetitions may decide it.
  package var isUndecided = false
  /// nil where nothing was compared.
  package var method: Method?
  /// The probability of such a difference between values of an unchanged program; nil within the tolerance.
  package var chance: Double?
  /// Why the verdict is what it is; nil where there is nothing to explain.
  package var reason: VerdictReason?

  package init(
    rule: GateRule,
    unit: String,
    verdict: Verdict = .skipped,
    baseline: ValueSummary? = nil,
    current: ValueSummary? = nil,
    change: Change? = nil,
    allowed: Double? = nil,
    detectable: Double? = nil,
    resolution: Double? = nil,
    method: Method? = nil,
    chance: Double? = nil,
    reason: VerdictReason? = nil
  ) {
    self.rule = rule
    self.unit = unit
    self.verdict = verdict
    self.baseline = baseline
    self.current = current
    self.change = change
    self.allowed = allowed
    self.detectable = detectable
    self.resolution = resolution
    self.method = method
    self.chance = chance
    self.reason = reason
  }

  package var metric: MetricName { rule.metric }

  /// Whether a rule of the gate judges it.
  package var isGated: Bool { rule.severity != .off }
}

/// The values of one metric over some repetitions, in the metric's unit.
package struct ValueSummary: Sendable, Hashable {
  package var median: Double
  package var count: Int
  /// From the lowest to the highest value; nil where only the median is known.
  package var range: ClosedRange<Double>?

  package init(median: Double, count: Int, range: ClosedRange<Double>? = nil) {
    self.median = median
    self.count = count
    self.range = range
  }

  /// nil where there is no finite value.
  package init?(_ values: [Double]) {
    let finite = values.filter(\.isFinite)
    guard let median = Spread.median(finite), let low = finite.min(), let high = finite.max() else { return nil }
    self.init(median: median, count: finite.count, range: low...high)
  }
}

extension MetricResult {
  /// Current less baseline.
  package struct Change: Sendable, Hashable {
    package var absolute: Double
    /// nil where the baseline is zero.
    package var percent: Double?
    /// The ends of the 95 % interval of the shift.
    package var low: Double
    package var high: Double
    /// The median of the differences between all values of both sides (Hodges and Lehmann), which the verdict is based
    /// on; where values jump between two levels, it is not the difference of the medians.
    package var shift: Double

    package init(absolute: Double, percent: Double?, low: Double, high: Double, shift: Double? = nil) {
      self.absolute = absolute
      self.percent = percent
      self.low = low
      self.high = high
      self.shift = shift ?? absolute
    }
  }

  /// How the values of both sides were compared.
  package enum Method: String, Sendable, CaseIterable, Codable {
    /// By the exact test of their ranks.
    case ranks = "rank-test"
    /// By ranks, after values that jump between two levels were compared with the nearer level, and by their share at
    /// the higher level.
    case levels = "two-levels"
    /// By size alone: there are too few values for a test.
    case thresholds = "no-statistics"
  }
}

/// Why a metric's verdict is what it is; the reports put it into words.
package enum VerdictReason: Sendable, Hashable, Codable {
  /// No baseline is stored for this environment.
  case noBaseline
  /// The baseline does not have this metric.
  case notInBaseline
  /// It rose by more than its tolerance (``MetricResult/change``).
  case rise
  /// It fell by more than its tolerance.
  case fall
  /// A rise of more than the tolerance can be neither shown nor excluded; its upper bound.
  case undecided(upTo: Double)
  /// The values jump between two levels; how many were at the higher one, and what follows from it.
  case levels(TwoLevels, LevelsOutcome)
  /// Its median is above the limit; by at least so much with 95 % confidence, where an interval is known.
  case aboveLimit(atLeastBy: Double?)
  /// Its interval contains the limit.
  case nearLimit(low: Double, high: Double)
  /// It is above the limit, but growth slows down all the time.
  case aboveLimitWhileSettling
  /// Most repetitions do not have it.
  case unavailable(Unavailability)
  /// The repetitions counted their process trees by different methods.
  case mixedTreeMethods([TreeMethod])
  /// The baseline counted its process trees by another method.
  case otherTreeMethod(baseline: TreeMethod, current: TreeMethod)
  /// The repetitions reported the value in different units.
  case mixedUnits([String])
  /// The gate gives an amount in a unit that the target does not use.
  case wrongUnitInGate(Amount, reported: String)
  /// The baseline has the value in another unit.
  case otherUnit(baseline: String, current: String)

  package enum LevelsOutcome: Sendable, Hashable, Codable {
    case rise, fall
    /// A rise of more than the tolerance can be neither shown nor excluded; its upper bound.
    case undecided(upTo: Double)
  }
}

/// The two levels between which a program's values jump.
package struct TwoLevels: Sendable, Hashable, Codable {
  package var low: Double
  package var high: Double
  /// How many of the baseline's values are at the higher level.
  package var highBefore: Int
  package var highNow: Int
  package var countBefore: Int
  package var countNow: Int
}

/// Why most repetitions do not have a metric.
package enum Unavailability: Sendable, Hashable, Codable {
  case noPhaseStarted
  /// The target reported the value in too few repetitions.
  case notReported(in: Int, of: Int)
  /// The target ended before enough readings were made.
  case tooFewReadings
  /// The target's page faults were read fewer than two times.
  case tooFewFaultReadings
  /// The iterations were too short to read the memory of enough of them.
  case iterationsTooFast
  /// Too few repetitions became steady.
  case seldomSteady(in: Int, of: Int)
  /// No repetition became steady; the reason that most repetitions have.
  case neverSteady(Steadiness)
}
