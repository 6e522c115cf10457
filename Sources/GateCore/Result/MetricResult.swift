import Statistics

/// One metric of one scenario: its values and, if a gate rule judges it, the verdict.
package struct MetricResult: Sendable, Hashable {
  package var rule: GateRule
  package var unit: String
  /// `skipped` if the gate switches the metric off.
  package var verdict: Verdict
  package var baseline: ValueSummary?
  package var current: ValueSummary?
  package var change: Change?
  /// The largest rise that the tolerance allows, in the metric's unit.
  package var allowed: Double?
  /// The smallest change that this comparison could have detected.
  package var detectable: Double?
  /// The smallest change that a check with this plan can detect with the noise of the baseline, without a tolerance.
  package var resolution: Double?
  /// Whether only noise made the verdict inconclusive, so that more repetitions may decide it.
  package var isUndecided = false
  /// nil if nothing was compared.
  package var method: Method?
  /// The probability of such a difference for an unchanged program; nil within the tolerance.
  package var chance: Double?
  /// The reason for the verdict; nil if there is nothing to explain.
  package var reason: VerdictReason?

  package init(
    rule: GateRule,
    unit: String,
    verdict: Verdict,
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

  /// Whether a gate rule judges it.
  package var isGated: Bool { rule.severity != .off }
}

/// The values of one metric over some repetitions, in the metric's unit.
package struct ValueSummary: Sendable, Hashable {
  package var median: Double
  package var count: Int
  /// From the lowest to the highest value; nil if only the median is known.
  package var range: ClosedRange<Double>?

  package init(median: Double, count: Int, range: ClosedRange<Double>? = nil) {
    self.median = median
    self.count = count
    self.range = range
  }

  /// nil if there is no finite value.
  package init?(_ values: [Double]) {
    let finite = values.filter(\.isFinite)
    guard let median = Spread.median(finite), let low = finite.min(), let high = finite.max() else { return nil }
    self.init(median: median, count: finite.count, range: low...high)
  }
}

extension MetricResult {
  /// The current values minus the baseline's.
  package struct Change: Sendable, Hashable {
    package var absolute: Double
    /// nil if the baseline is zero.
    package var percent: Double?
    /// The bounds of the shift's 95 % interval.
    package var low: Double
    package var high: Double
    /// The median of the differences between all values of both sides (Hodges and Lehmann), on which the verdict is
    /// based; for bimodal values it is not the difference of the medians.
    package var shift: Double

    package init(absolute: Double, percent: Double?, low: Double, high: Double, shift: Double? = nil) {
      self.absolute = absolute
      self.percent = percent
      self.low = low
      self.high = high
      self.shift = shift ?? absolute
    }
  }

  /// How the values were compared.
  package enum Method: String, Sendable, CaseIterable, Codable {
    /// With the exact rank test.
    case ranks = "rank-test"
    /// For bimodal values: by ranks within the nearer level, and by the share of values at the higher level.
    case levels = "two-levels"
    /// By size alone: there are too few values for a test.
    case thresholds = "no-statistics"
  }
}

/// The reason for a metric's verdict; reports turn it into a sentence.
package enum VerdictReason: Sendable, Hashable, Codable {
  /// No baseline is stored for this environment.
  case noBaseline
  /// The baseline does not have this metric.
  case notInBaseline
  /// Fewer than the baseline or the limit of an exact rule.
  case fewer(than: Double)
  /// It rose by more than its tolerance (``MetricResult/change``).
  case rise
  /// It fell by more than its tolerance.
  case fall
  /// A rise above the tolerance is neither shown nor excluded; its upper bound.
  case undecided(upTo: Double)
  /// The values are bimodal; the number at the higher level, and the outcome.
  case levels(levels: TwoLevels, outcome: LevelsOutcome)
  /// The median is above the limit; by at least this much with 95 % confidence, if an interval is known.
  case aboveLimit(atLeastBy: Double?)
  /// The interval contains the limit.
  case nearLimit(low: Double, high: Double)
  /// Growth rose by more than its tolerance, but is slowing down.
  case riseWhileSettling
  /// It is above the limit, but growth is slowing down.
  case aboveLimitWhileSettling
  /// Most repetitions lack it.
  case unavailable(cause: Unavailability)
  /// The scenario did not pass with the memory limit of its `limit`.
  case doesNotSurvive(run: LimitedRun)
  /// The repetitions counted their process trees with different methods.
  case mixedTreeMethods(methods: [TreeMethod])
  /// The baseline counted its process trees with another method.
  case otherTreeMethod(baseline: TreeMethod, current: TreeMethod)
  /// The repetitions reported the value in different units.
  case mixedUnits(units: [String])
  /// The gate has an amount in a unit that the target does not use.
  case wrongUnitInGate(amount: Amount, reported: String)
  /// The baseline has the value in another unit.
  case otherUnit(baseline: String, current: String)
  /// It passes, but something was left out that could have raised it.
  case incomplete(note: RecordingNote)
  /// What was decided about a test of a suite.
  case test(test: SuiteTest, reason: TestReason)

  package enum LevelsOutcome: Sendable, Hashable, Codable {
    case rise, fall, level
    /// A rise above the tolerance is neither shown nor excluded; its upper bound.
    case undecided(upTo: Double)
  }
}

/// The two levels of a bimodal program.
package struct TwoLevels: Sendable, Hashable, Codable {
  package var low: Double
  package var high: Double
  /// The number of baseline values at the higher level.
  package var highBefore: Int
  package var highNow: Int
  package var countBefore: Int
  package var countNow: Int
}

/// Why most repetitions lack a metric.
package enum Unavailability: Sendable, Hashable, Codable {
  case noPhaseStarted
  /// Other phases were started, but never this one.
  case phaseNotStarted(started: ReportedNames)
  /// The phase was started in too few repetitions.
  case phaseSeldomStarted(in: Int, of: Int)
  /// Memory was read during the phase in too few repetitions.
  case phaseSeldomRead(in: Int, of: Int)
  /// Memory became steady during the phase in too few repetitions.
  case phaseSeldomSteady(in: Int, of: Int)
  /// The target reported the value in too few repetitions.
  case notReported(in: Int, of: Int)
  /// The target reported other values, but never this one.
  case otherValuesReported(reported: ReportedNames)
  /// The target ended before there were enough readings of what the metric is computed from.
  case tooFewReadings
  /// The iterations were too short to sample memory in enough of them.
  case iterationsTooFast
  /// There is neither a phase nor an iteration from which it could be measured.
  case noLoad
  /// Too few repetitions became steady.
  case seldomSteady(in: Int, of: Int)
  /// No repetition became steady; the most frequent reason.
  case neverSteady(steadiness: Steadiness)
  /// Instances were not counted; without a reason, they are not counted by this command.
  case instancesNotCounted(refusal: InstanceRefusal?)
  /// nil if they were not to be counted.
  case allocationsNotCounted(refusal: AllocationRefusal?)
  /// No instance of the class was allocated; the classes that had some.
  case noInstances(others: ReportedNames)
}

/// The names of phases or values that occurred instead of a missing one.
package struct ReportedNames: Sendable, Hashable, Codable {
  /// In alphabetical order; at most ``most``.
  package var names: [String]
  package var count: Int
  /// The name that was probably meant.
  package var nearest: String?

  /// Targets may report a hundred names, and the reason is stored in every result.
  package static let most = 8

  package init(_ all: Set<String>, missing name: String? = nil) {
    let sorted = all.sorted()
    names = Array(sorted.prefix(Self.most))
    count = sorted.count
    nearest = name.flatMap { NearMiss.closest(to: $0, among: sorted) }
  }
}
