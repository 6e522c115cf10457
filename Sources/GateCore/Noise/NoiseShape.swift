import Statistics

/// Patterns in the values of equal runs: two levels, drift, outliers, and unsettled first values.
///
/// At least ten values are needed. Patterns smaller than the detectable change of a check with 5 repetitions are
/// ignored.
package struct NoiseShape: Sendable, Equatable {
  /// The two levels of bimodal values.
  package struct Levels: Sendable, Equatable {
    package let low: Double
    package let high: Double
    /// The number of values at the higher level.
    package let highCount: Int
  }

  /// The number of first values that differ from all later values.
  package private(set) var unsettled = 0
  package private(set) var levels: Levels?
  /// The drift from the first to the last value; nil if it may be chance.
  package private(set) var drift: Double?
  /// The smallest distance between values if only a few different values occur.
  package private(set) var step: Double?
  /// The number of outliers; zero if there are two levels.
  package private(set) var outliers = 0

  /// Fewer values have no shape.
  package static let fewest = 10

  init(of values: [Double]) {
    guard values.count >= Self.fewest else { return }
    unsettled = Self.unsettledCount(of: values)
    let settled = Array(values.dropFirst(unsettled))
    if let modes = Modes(of: settled), modes.gap > Resolution.ofFirstLook(deviation: Self.noise(within: modes)) {
      levels = Levels(low: modes.levels.low, high: modes.levels.high, highCount: modes.high.count)
    } else {
      drift = Self.drift(of: settled)
      step = Self.step(of: settled)
      outliers = Self.areFar(settled, fromThoseOf: settled).count(where: \.self)
    }
  }

  private static func noise(within modes: Modes) -> Double {
    Spread.noise(modes.distances(of: modes.low + modes.high))
  }
}

// MARK: - Outliers

extension NoiseShape {
  /// More unusual first values than this have another cause than a missing warm-up.
  private static let mostUnsettled = 3

  /// The number of first values that are far from all later values, if no later value is.
  ///
  /// They are found in 0.06 % of 1,500 series of 20 normal values, and in 1.6 % if one value in ten is an outlier
  /// (simulated, 2026-11).
  fileprivate static func unsettledCount(of values: [Double]) -> Int {
    (1...mostUnsettled).first { count in
      let far = areFar(values, fromThoseOf: Array(values[count...]))
      return far.indices.allSatisfy { far[$0] == ($0 < count) }
    } ?? 0
  }

  /// Whether each value is further from the median of the others than six of their deviations and than their
  /// `tolerance: auto`.
  fileprivate static func areFar(_ values: [Double], fromThoseOf others: [Double]) -> [Bool] {
    let center = Spread.median(others) ?? 0
    let band = max(6 * Spread.noise(others), Tolerance.automatic.allowed(above: others, of: .peakRSS))
    return values.map { abs($0 - center) > band }
  }
}

// MARK: - Drift and steps

extension NoiseShape {
  /// The rise or fall of the slope (Theil and Sen) from the first to the last value, if a check can detect it in the
  /// remaining noise and the later half differs from the earlier half.
  ///
  /// The exact rank test of the halves, at 0.005 for each direction, limits false alarms to 1 % for any kind of noise.
  fileprivate static func drift(of values: [Double]) -> Double? {
    let order = values.indices.map(Double.init)
    guard let slope = Slope.theilSen(x: order, y: values) else { return nil }
    let total = slope * Double(values.count - 1)
    let rest = zip(order, values).map { $1 - slope * $0 }
    guard abs(total) > Resolution.ofFirstLook(deviation: Spread.noise(rest)) else { return nil }
    let middle = values.count / 2
    let (earlier, later) = (Array(values[..<middle]), Array(values[middle...]))
    let chance =
      total > 0
      ? RankTest.pValue(ofRiseFrom: earlier, to: later) : RankTest.pValue(ofRiseFrom: later, to: earlier)
    return chance <= RepetitionPlan.falseAlarms / 2 ? total : nil
  }

  /// The smallest distance between values if at most a quarter of them are different and three or more occur
  /// repeatedly.
  ///
  /// A distance of less than four pages only means little noise: near page counts coincide by chance.
  fileprivate static func step(of values: [Double]) -> Double? {
    let counts = values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    let distinct = counts.keys.sorted()
    guard distinct.count * 4 <= values.count, counts.values.count(where: { $0 > 1 }) >= 3 else { return nil }
    let least = zip(distinct.dropFirst(), distinct).map { $0 - $1 }.min() ?? 0
    return least >= 4 * MetricJudgement.leastDeviation ? least : nil
  }
}

/// The changes that a check can detect against a new baseline.
enum Resolution {
  /// The number of values of a new baseline (``Repetitions/countForBaseline``).
  static let baselineCount = Repetitions.adaptive(min: 1, max: Repetitions.most).countForBaseline

  /// The smallest change that this many repetitions detect against a new baseline with this noise; at least a page.
  static func of(deviation: Double, repetitions: Int, isWholeBytes: Bool = true) -> Double {
    let least = isWholeBytes ? MetricJudgement.leastDeviation : 0
    return Detection.smallestShift(deviation: max(least, deviation), baselineCount, repetitions, allowed: 0)
  }

  /// The smallest change that a check detects at its first look, with 5 repetitions.
  static func ofFirstLook(deviation: Double) -> Double {
    of(deviation: deviation, repetitions: 5)
  }
}
