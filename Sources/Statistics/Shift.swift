/// By how much one set of values lies above another.
package struct Shift: Sendable, Equatable {
  /// The median of all differences (Hodges and Lehmann 1963).
  package let estimate: Double
  /// Where the true shift lies, in 95 % of all cases.
  package let interval: ClosedRange<Double>
  /// What the true shift is not above, in 95 % of all cases.
  package let upperBound: Double
  /// What the true shift is not below, in 95 % of all cases.
  package let lowerBound: Double

  /// The shift from `base` to `current`, its bounds from the exact distribution of the rank sum; nil where either is
  /// empty.
  ///
  /// Where there are too few values for 95 % (two-sided: fewer than 4 against 4) the bounds are the whole range of the
  /// differences, which promises less. Beyond 40 values a side they are made of 40 that stand for them.
  package init?(from base: [Double], to current: [Double]) {
    let (base, current) = (Sample.standingFor(base), Sample.standingFor(current))
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

  /// The largest k with P(U ≤ k − 1) ≤ `perSide` for the Mann–Whitney statistic U; 0 where there is none.
  static func rankCut(_ first: Int, _ second: Int, perSide: Double) -> Int {
    let counts = RankTest.orderings(first, second)
    let total = counts.reduce(0, +)
    var sum = 0.0
    var cut = 0
    while cut < counts.count, (sum + counts[cut]) / total <= perSide {
      sum += counts[cut]
      cut += 1
    }
    return cut
  }
}
