/// The location shift between two sets of values.
package struct Shift: Sendable, Equatable {
  /// The Hodges–Lehmann estimate: the median of all differences (1963).
  package let estimate: Double
  /// The two-sided 95 % confidence interval.
  package let interval: ClosedRange<Double>
  /// The one-sided upper 95 % confidence bound.
  package let upperBound: Double
  /// The one-sided lower 95 % confidence bound.
  package let lowerBound: Double

  /// The shift from `base` to `current` with bounds from the exact distribution of the rank sum; nil if either is
  /// empty.
  ///
  /// With too few values for 95 % (two-sided: fewer than 4 against 4) the bounds are the range of the differences, with a
  /// lower confidence. More than ``Subsample/limit`` values a side are subsampled.
  package init?(from base: [Double], to current: [Double]) {
    let (base, current) = (Subsample.of(base), Subsample.of(current))
    let differences = current.flatMap { later in base.map { later - $0 } }.sorted()
    guard let estimate = Spread.median(differences) else { return nil }
    func ends(perSide: Double) -> (low: Double, high: Double) {
      let cut = min(max(1, Self.rankCut(base.count, current.count, perSide: perSide)), (differences.count + 1) / 2)
      return (differences[cut - 1], differences[differences.count - cut])
    }
    let (twoSided, oneSided) = (ends(perSide: 0.025), ends(perSide: 0.05))
    self.estimate = estimate
    interval = twoSided.low...twoSided.high
    (lowerBound, upperBound) = oneSided
  }

  /// The largest k with P(U ≤ k − 1) ≤ `perSide` for the Mann–Whitney statistic U; 0 if there is none.
  static func rankCut(_ first: Int, _ second: Int, perSide: Double) -> Int {
    RankTest.orderings(first, second).lowerTailCount(probability: perSide)
  }
}
