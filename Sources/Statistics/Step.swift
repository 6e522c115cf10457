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

  init(at index: Int) {
    self.index = index
  }

  /// What the chance is not above that values of one level lie apart as far as these do, one set before the other, at
  /// any place of a window among all values: the exact rank test of Mann and Whitney (1947), two-sided, times the places.
  ///
  /// Equal values count against a step, so that the distribution without equal ones is never too bold: with its exact
  /// brother (``RankTest/chance(ofRiseFrom:to:)``) the search took ten times as long. 1 where it is plainly nothing.
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
    let against = pairs - max(rises, falls)
    // Within two deviations of the middle (U has the variance nm(n + m + 1)/12) the chance of one place alone is above
    // 0.04, and all of them count.
    let distance = Double(pairs) / 2 - Double(against)
    let variance = Double(pairs * (first.count + second.count + 1)) / 12
    guard distance > 0, distance * distance > 4 * variance else { return 1 }
    let counts = RankTest.orderings(first.count, second.count)
    let share = counts[...against].reduce(0, +) / counts.reduce(0, +)
    return min(1, 2 * share * Double(min(values.count, ChangePoints.window)))
  }

  /// Goes to the best place in a range, if there is one.
  fileprivate mutating func locate(in values: [Double], _ range: Range<Int>) {
    index = Divergence.split(of: values, range) ?? index
  }

  fileprivate mutating func weigh(in values: [Double], _ range: Range<Int>, _ least: (Double) -> Double) {
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
  /// Where a range is best split in two, each of at least ``ChangePoints/shortest`` values; nil where it is too short, or
  /// all values are equal.
  ///
  /// By the largest Q = nm/(n + m) · (2 × the mean distance between both parts − that within the first − that within the
  /// second). Both parts reach to the ends of the range: with any other end for the second, as in the paper, 200 series
  /// of each kind of our simulation had the same steps (2026-11).
  static func split(of values: [Double], _ range: Range<Int>) -> Int? {
    let (count, shortest) = (range.count, ChangePoints.shortest)
    guard count >= 2 * shortest else { return nil }
    // The sums of the distances within the first k values, and within all from the k-th on.
    var first = [Double](repeating: 0, count: count + 1)
    var last = first
    for one in 0..<count {
      for other in 0..<one {
        let distance = abs(values[range.lowerBound + one] - values[range.lowerBound + other])
        first[one + 1] += distance
        last[other] += distance
      }
    }
    for index in 1...count {
      first[index] += first[index - 1]
      last[count - index] += last[count - index + 1]
    }
    var best = (place: 0, divergence: 0.0)
    for place in shortest...count - shortest {
      let (n, m) = (Double(place), Double(count - place))
      let between = first[count] - first[place] - last[place]
      let divergence = 2 * (between - first[place] * m / (n - 1) - last[place] * n / (m - 1)) / (n + m)
      if divergence > best.divergence { best = (place, divergence) }
    }
    return best.divergence > 0 ? range.lowerBound + best.place : nil
  }
}
