/// By how much one set of values lies above another.
package enum Shift {
  /// The 95 % interval of the shift from `base` to `current`, from the exact distribution of the rank sum (Hodges and
  /// Lehmann 1963); nil where either is empty.
  ///
  /// Where there are too few values for 95 % (fewer than 4 against 4) it is the whole range of the differences, which
  /// promises less.
  package static func interval(from base: [Double], to current: [Double]) -> ClosedRange<Double>? {
    guard !base.isEmpty, !current.isEmpty else { return nil }
    let differences = current.flatMap { later in base.map { later - $0 } }.sorted()
    let cut = max(1, rankCut(base.count, current.count, perSide: 0.025))
    let low = differences[min(cut, differences.count) - 1]
    let high = differences[max(differences.count - cut, 0)]
    return min(low, high)...max(low, high)
  }

  /// The largest k with P(U ≤ k − 1) ≤ `perSide` for the Mann–Whitney statistic U; 0 where there is none.
  ///
  /// From 41 values on a side, the normal approximation of U serves.
  static func rankCut(_ first: Int, _ second: Int, perSide: Double) -> Int {
    guard max(first, second) <= 40 else {
      let product = Double(first * second)
      let deviation = (product * Double(first + second + 1) / 12).squareRoot()
      return max(0, Int(product / 2 - 1.96 * deviation))
    }
    let counts = orderings(first, second)
    let total = counts.reduce(0, +)
    var sum = 0.0
    var cut = 0
    while cut < counts.count, (sum + counts[cut]) / total <= perSide {
      sum += counts[cut]
      cut += 1
    }
    return cut
  }

  /// How many orderings of `first` and `second` values have each value of U, by the recurrence of Mann and Whitney (1947):
  /// the coefficients of the Gaussian binomial.
  private static func orderings(_ first: Int, _ second: Int) -> [Double] {
    var counts = [Double](repeating: 0, count: first * second + 1)
    counts[0] = 1
    for part in 1...first {
      for index in Swift.stride(from: counts.count - 1, through: second + part, by: -1) {
        counts[index] -= counts[index - second - part]
      }
      for index in part..<max(part, counts.count) {
        counts[index] += counts[index - part]
      }
    }
    return counts
  }
}
