/// Where the middle of the values lies from which some are known.
package enum Center {
  /// What the middle is not below, and not above, but in a share of `perSide` of all cases each: the ends of the sorted
  /// means of all pairs (Walsh averages) by the exact distribution of the signed-rank sum (Wilcoxon 1945, Tukey 1949);
  /// nil where the values are too few for such a share.
  ///
  /// 5 values suffice for a share of 0.05, 7 for 0.01. Beyond ``Sample/most`` values it is made of those that stand for
  /// them.
  package static func bounds(of values: [Double], perSide: Double) -> ClosedRange<Double>? {
    let values = Sample.standingFor(values)
    let cut = rankCut(values.count, perSide: perSide)
    guard cut > 0 else { return nil }
    var means: [Double] = []
    for (index, first) in values.enumerated() {
      means += values[index...].map { first + ($0 - first) / 2 }
    }
    means.sort()
    return means[cut - 1]...means[means.count - cut]
  }

  /// The largest k with P(W ≤ k − 1) ≤ `perSide` for the sum W of the ranks of the positive ones of `count` values.
  static func rankCut(_ count: Int, perSide: Double) -> Int {
    // ways[s]: how many sets of the ranks 1…count have the sum s.
    var ways = [Double](repeating: 0, count: count * (count + 1) / 2 + 1)
    ways[0] = 1
    var all = 1.0
    for rank in stride(from: 1, through: count, by: 1) {
      for sum in stride(from: ways.count - 1, through: rank, by: -1) { ways[sum] += ways[sum - rank] }
      all *= 2
    }
    var (sum, cut) = (0.0, 0)
    while cut < ways.count, (sum + ways[cut]) / all <= perSide {
      sum += ways[cut]
      cut += 1
    }
    return cut
  }
}
