/// The pseudomedian of values: the median of the means of all pairs, their Walsh averages (Hodges and Lehmann 1963).
package enum Pseudomedian {
  /// One-sided confidence bounds of the pseudomedian, each exceeded with a probability of at most `perSide`; nil if
  /// there are too few values.
  ///
  /// From the exact distribution of the signed-rank sum (Wilcoxon 1945, Tukey 1949). 5 values suffice for a `perSide` of
  /// 0.05, 7 for 0.01. More than ``Subsample/limit`` values are subsampled.
  package static func bounds(of values: [Double], perSide: Double) -> ClosedRange<Double>? {
    let values = Subsample.of(values)
    let cut = rankCut(values.count, perSide: perSide)
    guard cut > 0 else { return nil }
    var means: [Double] = []
    for (index, first) in values.enumerated() {
      means += values[index...].map { first + ($0 - first) / 2 }
    }
    means.sort()
    return means[cut - 1]...means[means.count - cut]
  }

  /// The largest k with P(W ≤ k − 1) ≤ `perSide` for the signed-rank statistic W of `count` values.
  static func rankCut(_ count: Int, perSide: Double) -> Int {
    // ways[s]: the number of sets of the ranks 1…count with the sum s.
    var ways = [Double](repeating: 0, count: count * (count + 1) / 2 + 1)
    ways[0] = 1
    for rank in stride(from: 1, through: count, by: 1) {
      for sum in stride(from: ways.count - 1, through: rank, by: -1) { ways[sum] += ways[sum - rank] }
    }
    return ways.lowerTailCount(probability: perSide)
  }
}

extension [Double] {
  /// How many of the first elements of a distribution have at most this probability together.
  func lowerTailCount(probability: Double) -> Int {
    let total = reduce(0, +)
    var (sum, tail) = (0.0, 0)
    while tail < count, (sum + self[tail]) / total <= probability {
      sum += self[tail]
      tail += 1
    }
    return tail
  }
}
