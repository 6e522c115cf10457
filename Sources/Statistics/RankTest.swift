/// Whether one set of values lies above another, by the exact distribution of their ranks.
package enum RankTest {
  /// The chance that values of one and the same kind would lie at least as far above `base` as `current` does.
  ///
  /// The one-sided test of Mann and Whitney (1947), exact also where values are equal, as counts of pages often are:
  /// by the permutation distribution of the mid-ranks (Lehmann 1975, section 1.4). Beyond ``Sample/most`` values a side
  /// it is made with those that stand for them. 1 where either is empty.
  package static func chance(ofRiseFrom base: [Double], to current: [Double]) -> Double {
    let (base, current) = (Sample.standingFor(base), Sample.standingFor(current))
    guard let highest = base.last, let lowest = current.first else { return 1 }
    guard lowest <= highest else { return floor(base.count, current.count) }
    let ranks = doubledMidRanks(of: base + current)
    let sum = ranks[base.count...].reduce(0, +)
    if Set(ranks).count == ranks.count {
      // Without equal values a shorter way leads there; U counts the pairs in which the current value is the higher one.
      let counts = orderings(base.count, current.count)
      let pairs = sum / 2 - current.count * (current.count + 1) / 2
      return counts[pairs...].reduce(0, +) / counts.reduce(0, +)
    }
    // The smaller side's sum is the shorter way to the same distribution: both sums make up a constant.
    guard base.count < current.count else { return share(of: current.count, from: ranks) { $0 >= sum } }
    let rest = ranks.reduce(0, +) - sum
    return share(of: base.count, from: ranks) { $0 <= rest }
  }

  /// The smallest chance that the test can give: one in all ways to choose one side's values out of both.
  ///
  /// Where this is above the chance that is asked for, the test cannot say anything.
  package static func floor(_ first: Int, _ second: Int) -> Double {
    let (first, second) = (min(first, Sample.most), min(second, Sample.most))
    guard first > 0, second > 0 else { return 1 }
    return (1...first).reduce(1.0) { $0 * Double($1) / Double(second + $1) }
  }

  /// Twice the rank of each value among all, which is whole even where equal values share their mean rank.
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

  /// The share of all choices of `count` ranks whose sum is wanted.
  private static func share(of count: Int, from ranks: [Int], where isWanted: (Int) -> Bool) -> Double {
    let ranks = ranks.sorted()
    // sums[k]: the sum of the lowest k ranks.
    let sums = ranks.reduce(into: [0]) { sums, rank in sums.append((sums.last ?? 0) + rank) }
    let width = sums[ranks.count] - sums[ranks.count - count] + 1
    // ways[k × width + s]: how many choices of k of the ranks seen so far have the sum s.
    var ways = [Double](repeating: 0, count: (count + 1) * width)
    ways[0] = 1
    for (seen, rank) in ranks.enumerated() {
      for chosen in stride(from: min(count, seen + 1), through: 1, by: -1) {
        let (row, above) = (chosen * width, (chosen - 1) * width)
        // Between the sums of the lowest and of the highest that can be chosen.
        let (least, most) = (sums[chosen - 1], sums[seen] - sums[seen - chosen + 1])
        for sum in stride(from: most, through: least, by: -1) { ways[row + sum + rank] += ways[above + sum] }
      }
    }
    let last = ways[(count * width)...]
    let wanted = last.enumerated().reduce(0.0) { $0 + (isWanted($1.offset) ? $1.element : 0) }
    return wanted / last.reduce(0, +)
  }

  /// How many orderings of `first` and `second` values without equal ones have each value of the statistic U, by the
  /// recurrence of Mann and Whitney (1947): the coefficients of the Gaussian binomial, all or those up to a value.
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

/// Whether a share has risen, by the exact test of Fisher (1935), one-sided.
package enum ShareTest {
  /// The chance that `current` of `currentCount` would be at least as many, were the share the same as `base` of
  /// `baseCount`; 1 where either count is zero.
  package static func chance(ofRiseFrom base: Int, of baseCount: Int, to current: Int, of currentCount: Int) -> Double {
    guard baseCount > 0, currentCount > 0 else { return 1 }
    let (marked, all) = (base + current, baseCount + currentCount)
    // The hypergeometric weights by their ratios, from the fewest that `current` can be.
    let (fewest, most) = (max(0, marked - baseCount), min(marked, currentCount))
    var (weight, total, wanted) = (1.0, 0.0, 0.0)
    for count in fewest...most {
      total += weight
      if count >= current { wanted += weight }
      let next = Double(marked - count) * Double(currentCount - count)
      weight *= next / (Double(count + 1) * Double(all - marked - currentCount + count + 1))
    }
    return wanted / total
  }
}

/// The values that stand for a set in tests whose cost grows with its size.
enum Sample {
  /// The largest count whose exact distribution is worth its cost.
  static let most = 40

  /// The values in order; of more than ``most`` that many at equal distances, which vary less than so many values would,
  /// so that a test with them promises rather too little than too much.
  static func standingFor(_ values: [Double]) -> [Double] {
    let sorted = values.sorted()
    guard sorted.count > most else { return sorted }
    return (0..<most).map { sorted[(2 * $0 + 1) * sorted.count / (2 * most)] }
  }
}
