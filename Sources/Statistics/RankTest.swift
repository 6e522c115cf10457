/// The one-sided rank-sum test of Mann and Whitney (1947) with its exact distribution.
package enum RankTest {
  /// The probability that `current` lies at least as far above `base` if both have the same distribution.
  ///
  /// Exact also for tied values, as counts of pages often are: from the permutation distribution of the mid-ranks
  /// (Lehmann 1975, section 1.4). More than ``Subsample/limit`` values a side are subsampled. 1 if either is empty.
  package static func pValue(ofRiseFrom base: [Double], to current: [Double]) -> Double {
    let (base, current) = (Subsample.of(base), Subsample.of(current))
    guard let highest = base.last, let lowest = current.first else { return 1 }
    guard lowest <= highest else { return smallestPValue(base.count, current.count) }
    let ranks = doubledMidRanks(of: base + current)
    let sum = ranks[base.count...].reduce(0, +)
    if Set(ranks).count == ranks.count {
      // Without ties this is cheaper; U counts the pairs in which the current value is higher.
      let counts = orderings(base.count, current.count)
      let pairs = sum / 2 - current.count * (current.count + 1) / 2
      return counts[pairs...].reduce(0, +) / counts.reduce(0, +)
    }
    // The rank sum of the smaller side has the cheaper distribution; the sum of both is constant.
    guard base.count < current.count else { return share(of: current.count, from: ranks) { $0 >= sum } }
    let rest = ranks.reduce(0, +) - sum
    return share(of: base.count, from: ranks) { $0 <= rest }
  }

  /// The smallest p-value of the test: one divided by the number of ways to choose one side's values.
  ///
  /// At a lower significance level the test has no power.
  package static func smallestPValue(_ first: Int, _ second: Int) -> Double {
    let (first, second) = (min(first, Subsample.limit), min(second, Subsample.limit))
    guard first > 0, second > 0 else { return 1 }
    return (1...first).reduce(1.0) { $0 * Double($1) / Double(second + $1) }
  }

  /// Twice the mid-rank of each value, which is an integer even where tied values share their mean rank.
  private static func doubledMidRanks(of values: [Double]) -> [Int] {
    let sorted = values.sorted()
    var ranks: [Double: Int] = [:]
    var start = 0
    while start < sorted.count {
      var end = start
      while end + 1 < sorted.count, sorted[end + 1] == sorted[start] { end += 1 }
      ranks[sorted[start]] = start + end + 2
      start = end + 1
    }
    return values.map { ranks[$0] ?? 0 }
  }

  /// The share of all choices of `count` ranks whose sum fulfils a condition.
  private static func share(of count: Int, from ranks: [Int], where isCounted: (Int) -> Bool) -> Double {
    let ranks = ranks.sorted()
    // sums[k]: the sum of the lowest k ranks.
    let sums = ranks.reduce(into: [0]) { sums, rank in sums.append((sums.last ?? 0) + rank) }
    let width = sums[ranks.count] - sums[ranks.count - count] + 1
    // ways[k × width + s]: the number of choices of k of the ranks so far with the sum s.
    var ways = [Double](repeating: 0, count: (count + 1) * width)
    ways[0] = 1
    for (seen, rank) in ranks.enumerated() {
      for chosen in stride(from: min(count, seen + 1), through: 1, by: -1) {
        let (row, above) = (chosen * width, (chosen - 1) * width)
        // The smallest and the largest sum of the ranks before this one.
        let (least, most) = (sums[chosen - 1], sums[seen] - sums[seen - chosen + 1])
        for sum in stride(from: most, through: least, by: -1) { ways[row + sum + rank] += ways[above + sum] }
      }
    }
    let last = ways[(count * width)...]
    let wanted = last.enumerated().reduce(0.0) { $0 + (isCounted($1.offset) ? $1.element : 0) }
    return wanted / last.reduce(0, +)
  }

  /// The number of orderings of `first` and `second` distinct values for each value of the statistic U, all or up to a
  /// value: the coefficients of the Gaussian binomial, by the recurrence of Mann and Whitney (1947).
  static func orderings(_ first: Int, _ second: Int, upTo most: Int = .max) -> [Double] {
    var counts = [Double](repeating: 0, count: min(first * second, most) + 1)
    counts[0] = 1
    for part in 1...first {
      for index in stride(from: counts.count - 1, through: second + part, by: -1) {
        counts[index] -= counts[index - second - part]
      }
      for index in part..<max(part, counts.count) {
        counts[index] += counts[index - part]
      }
    }
    return counts
  }
}

/// Reduces large sets of values for tests whose cost grows quickly with their number.
enum Subsample {
  /// The largest count that is not reduced.
  static let limit = 40

  /// The sorted values; if there are more than ``limit``, that many evenly spaced order statistics.
  ///
  /// They vary less than all values would, so a test with them is conservative.
  static func of(_ values: [Double]) -> [Double] {
    let sorted = values.sorted()
    guard sorted.count > limit else { return sorted }
    return (0..<limit).map { sorted[(2 * $0 + 1) * sorted.count / (2 * limit)] }
  }
}
