/// A slow rise over many runs, each step of which was too small to be significant.
package struct Drift: Sendable, Equatable {
  /// The lowest median of ``anchorCount`` consecutive values; only a few runs were lower.
  package let anchor: Double
  /// The middle of the values of the anchor.
  package let anchorIndex: Int
  /// The median of the last ``levelCount`` values.
  package let level: Double

  package var rise: Double { level - anchor }

  /// The number of consecutive values for an anchor, and for the present level.
  ///
  /// With 5 and 3 instead, 35 % of level series were flagged at a deviation of 2 % (our simulation, 2026-11).
  package static let anchorCount = 10
  package static let levelCount = 5

  /// By how many standard deviations a rise must exceed the tolerance: the lowest of many medians lies below their mean,
  /// and the last one anywhere.
  ///
  /// None of 1,000 level series of 60 values was flagged at each of the deviations 0.5, 1, 2 and 4 % and a tolerance of
  /// 3 %; when every run of them was tested, 0.7 % were at 4 %, and none at less. A rise of 0.3 % a run after 20 level
  /// ones was found in all, after 16, 19, 25 and 35 runs in the median; one of 0.1 % within 60 runs in 100, 92, 34 and
  /// 9 % (our simulation, 2026-11; a small version is a test).
  static let deviations = 2.5

  /// Whether a rise is drift: it exceeds the tolerance and ``deviations`` of the values' noise.
  package static func isDrift(_ rise: Double, tolerated: Double, noise: Double) -> Bool {
    rise > tolerated + deviations * noise
  }

  /// Looks for drift in a time series; nil if there is none, or too few values.
  ///
  /// At most one value of each level may be nearer to the other level: bimodal values do not drift when a few
  /// consecutive ones are at the higher mode. Without that rule 19 % of 1,000 series of 60 runs at each mode half of the
  /// time were flagged at a tolerance of 3 % (our simulation, 2026-11). A single step looks like drift here; see
  /// ``SeriesAnalysis/withoutSteps(_:)``.
  ///
  /// - Parameters:
  ///   - values: One for each run.
  ///   - tolerance: The rise that is tolerated above a level.
  package init?(_ values: [Double], tolerance: (_ level: Double) -> Double) {
    guard values.count >= Self.anchorCount + Self.levelCount,
      let level = Spread.median(Array(values.suffix(Self.levelCount)))
    else { return nil }
    let medians = (0...values.count - Self.anchorCount).compactMap { start in
      Spread.median(Array(values[start..<start + Self.anchorCount])).map { (start: start, level: $0) }
    }
    // Of equal medians the one with the lowest sum: the others include values before a fall.
    func sum(_ start: Int) -> Double { values[start..<start + Self.anchorCount].reduce(0, +) }
    let lowest = medians.min { ($0.level, sum($0.start)) < ($1.level, sum($1.start)) }
    guard let lowest,
      Self.isDrift(level - lowest.level, tolerated: tolerance(lowest.level), noise: Self.noise(of: values))
    else { return nil }
    let middle = (level + lowest.level) / 2
    guard values[lowest.start..<lowest.start + Self.anchorCount].count(where: { $0 > middle }) <= 1,
      values.suffix(Self.levelCount).count(where: { $0 < middle }) <= 1
    else { return nil }
    self.anchor = lowest.level
    self.anchorIndex = lowest.start + Self.anchorCount / 2
    self.level = level
  }

  /// The standard deviation of a run, which neither drift nor a few steps affect, from the differences of values some
  /// runs apart: a tenth of all, and at most five.
  ///
  /// A difference has √2 times the deviation of a value (von Neumann 1941, with the robust estimate of
  /// ``Spread/noise(_:)`` instead of the mean square). If runs depend on each other, neighbours differ less than values of
  /// one level do: of 250 series of 60 values with an autoregression of 0.8, 14 % had drift by the differences of
  /// neighbours, and 2 % by those five runs apart (our simulation, 2026-11).
  static func noise(of values: [Double]) -> Double {
    let lag = max(1, min(5, values.count / 10))
    return Spread.noise(zip(values.dropFirst(lag), values).map { $0 - $1 }) / 2.0.squareRoot()
  }
}
