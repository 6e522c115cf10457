/// What might be a step, beside its neighbours.
struct Step {
  /// Why something is no step; of several the one that stands last here is taken out first.
  enum Doubt: Comparable {
    case none
    /// A slow rise explains the values better, by so many variances.
    case slow(Double)
    /// By this share it is smaller than what is tolerated; by all, where the levels are the same.
    case small(Double)
    /// Values of one level would have such a step with this chance.
    case chance(Double)
  }

  private(set) var index: Int
  private(set) var before = 0.0
  private(set) var after = 0.0
  private(set) var chance = 1.0
  private(set) var doubt = Doubt.chance(1)
  /// The range that it was weighed in, which need not be done twice.
  private var weighed: Range<Int>?

  init(at index: Int) {
    self.index = index
  }

  /// The chance that values of one level lie apart as far as these do, one set before the other, at any place of a
  /// window among all values: the exact rank test of Mann and Whitney (1947), two-sided, times the places.
  ///
  /// Equal values count half, but by the distribution without equal ones, which is wider, and so rather too careful than
  /// too bold: with the one for equal ones (``RankTest/chance(ofRiseFrom:to:)``) the search took ten times as long. 1 where
  /// it is plainly nothing.
  static func chance(_ first: ArraySlice<Double>, _ second: ArraySlice<Double>, among values: [Double]) -> Double {
    guard min(first.count, second.count) >= ChangePoints.shortest else { return 1 }
    var (rises, falls) = (0, 0)
    for later in second {
      for earlier in first {
        rises += later > earlier ? 1 : 0
        falls += later < earlier ? 1 : 0
      }
    }
    let pairs = first.count * second.count
    let against = (pairs - abs(rises - falls) + 1) / 2
    // Within two deviations of the middle (U has the variance nm(n + m + 1)/12) the chance of one place alone is above
    // 0.04, and all of them count.
    let distance = Double(pairs) / 2 - Double(against)
    let variance = Double(pairs * (first.count + second.count + 1)) / 12
    guard distance > 0, distance * distance > 4 * variance else { return 1 }
    let wanted = RankTest.orderings(first.count, second.count, upTo: against).reduce(0, +)
    let all = (1...first.count).reduce(1.0) { $0 * Double(second.count + $1) / Double($1) }
    return min(1, 2 * wanted / all * Double(min(values.count, ChangePoints.window)))
  }

  /// Goes to the best place in a range, if there is one.
  fileprivate mutating func locate(in values: [Double], _ range: Range<Int>) {
    let place = Divergence.split(of: values, range)?.place ?? index
    if place != index { (index, weighed) = (place, nil) }
  }

  fileprivate mutating func weigh(in values: [Double], _ range: Range<Int>, _ least: (Double) -> Double) {
    guard range != weighed else { return }
    weighed = range
    let (first, second) = (values[range.lowerBound..<index], values[index..<range.upperBound])
    before = Spread.median(Array(first)) ?? 0
    after = Spread.median(Array(second)) ?? 0
    chance = Self.chance(first, second, among: values)
    let (rise, needed) = (abs(after - before), least(before))
    if chance > ChangePoints.limit {
      doubt = .chance(chance)
    } else if rise == 0 || rise < needed {
      doubt = .small(rise == 0 ? 1 : 1 - rise / needed)
    } else {
      let advantage = SlowRise.advantage(over: index - range.lowerBound, in: values[range])
      doubt = advantage > 0 ? .slow(advantage) : .none
    }
  }
}

extension [Step] {
  /// The values that belong to one step alone.
  private func range(of place: Int, in values: [Double]) -> Range<Int> {
    let start = place > 0 ? self[place - 1].index : 0
    let end = place + 1 < count ? self[place + 1].index : values.count
    let index = self[place].index
    return Swift.max(start, index - ChangePoints.reach)..<Swift.min(end, index + ChangePoints.reach)
  }

  /// Moves a step to its best place between its neighbours: that of a window need not be, since a window may begin or
  /// end right beside it.
  mutating func locate(_ place: Int, in values: [Double]) {
    self[place].locate(in: values, range(of: place, in: values))
  }

  /// Weighs a step beside its neighbours as they are now.
  mutating func weigh(_ place: Int, in values: [Double], _ least: (Double) -> Double) {
    self[place].weigh(in: values, range(of: place, in: values), least)
  }
}

/// How unlike two stretches of values are (Matteson and James 2014, equations 5 and 7, with the exponent 1).
enum Divergence {
  /// Where a range is best split, and where the second part ends, each part of at least ``ChangePoints/shortest`` values;
  /// nil where the range is too short, or all its values are equal.
  ///
  /// By the largest Q = nm/(n + m) · (2 × the mean distance between both parts − that within the first − that within the
  /// second). With N = n + m, the sum S of all distances and the mean distances times n and m over two, F and L, it is
  /// 2 (S − (N − 1) (F + L)) / N. The second part may end anywhere (equation 7): were it to reach to the end of the range,
  /// then a higher level of 11 runs between 50 and 50 others would go unseen, however clear.
  static func split(of values: [Double], _ range: Range<Int>) -> (place: Int, end: Int)? {
    let (start, shortest) = (range.lowerBound, ChangePoints.shortest)
    guard range.count >= 2 * shortest else { return nil }
    // The sums of the distances from the k-th value up to the end, and the F of the first k values.
    var sums = [Double](repeating: 0, count: range.count)
    var first = [Double](repeating: 0, count: range.count + 1)
    let shares = (0...range.count).map { 1 / Double(max(1, $0 - 1)) }
    var best = (place: 0, end: 0, divergence: 0.0)
    for end in 1...range.count {
      var added = 0.0
      for one in stride(from: end - 2, through: 0, by: -1) {
        added += abs(values[start + one] - values[start + end - 1])
        sums[one] += added
      }
      first[end] = sums[0] * shares[end]
      guard end >= 2 * shortest else { continue }
      var least = (place: 0, within: Double.infinity)
      for place in shortest...end - shortest {
        let within = first[place] + sums[place] * shares[end - place]
        if within < least.within { least = (place, within) }
      }
      let divergence = 2 * (sums[0] - Double(end - 1) * least.within) / Double(end)
      if divergence > best.divergence { best = (least.place, end, divergence) }
    }
    return best.divergence > 0 ? (start + best.place, start + best.end) : nil
  }
}
