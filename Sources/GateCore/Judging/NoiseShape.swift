import Statistics

/// Patterns in the values of equal runs: two levels, drift, outliers, and unusual first values.
///
/// At least ten values are needed. Patterns that are smaller than what a check of 5 repetitions detects are left out.
package struct NoiseShape: Sendable, Equatable {
  /// Two levels between which the values jump.
  package struct Levels: Sendable, Equatable {
    package let low: Double
    package let high: Double
    /// The number of values at the higher one.
    package let highCount: Int
  }

  /// How many of the first values differ from all later ones.
  package private(set) var unsettled = 0
  package private(set) var levels: Levels?
  /// The drift from the first to the last value; nil where it may be chance.
  package private(set) var drift: Double?
  /// The smallest distance between values where only a few different ones occur; nil elsewhere.
  package private(set) var step: Double?
  /// The number of outliers; zero where there are two levels.
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
  /// More unusual first values have another cause than a missing warm-up.
  private static let mostUnsettled = 3

  /// How many values at the beginning are far from all later ones, while no later one is.
  ///
  /// They are found in 0.06 % of 1,500 series of 20 normal values, and in 1.6 % where one value in ten is an outlier (by
  /// simulation, 2026-11).
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
    let band = max(6 * Spread.noise(others), Tolerance.automatic.allowed(above: others))
    return values.map { abs($0 - center) > band }
  }
}

// MARK: - Drift and steps

extension NoiseShape {
  /// The rise or fall of the values' slope (Theil and Sen) from the first to the last, where a check can detect it in the
  /// remaining noise and the later half differs from the earlier one.
  ///
  /// The exact rank test of the halves at 0.005 for each direction limits false alarms to 1 % for any kind of noise.
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

  /// The smallest distance between values, where at most a quarter of them are different and three or more occur repeatedly.
  ///
  /// A distance of less than four pages only means little noise: near page counts are equal by chance.
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

  /// The smallest change that so many repetitions detect against a new baseline with this noise, of a page at least.
  static func of(deviation: Double, repetitions: Int, isWholeBytes: Bool = true) -> Double {
    let least = isWholeBytes ? MetricJudgement.leastDeviation : 0
    return Detection.smallestShift(deviation: max(least, deviation), baselineCount, repetitions, allowed: 0)
  }

  /// The smallest change that the first look of a check detects, with its 5 repetitions.
  static func ofFirstLook(deviation: Double) -> Double {
    of(deviation: deviation, repetitions: 5)
  }
}
