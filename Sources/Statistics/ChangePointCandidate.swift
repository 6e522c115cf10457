/// A possible step in a series, tested against its neighbours.
struct ChangePointCandidate {
  /// Why a candidate is not a step; the candidate with the greatest is removed first.
  enum Rejection: Comparable {
    case none
    /// A ramp fits the values better, by this many variances.
    case ramp(Double)
    /// The step is smaller than the tolerance, by this share of it (1 if the levels are equal).
    case small(Double)
    /// Values of one level would have such a step with this probability.
    case insignificant(pValue: Double)
  }

  private(set) var index: Int
  private(set) var before = 0.0
  private(set) var after = 0.0
  private(set) var pValue = 1.0
  private(set) var rejection = Rejection.insignificant(pValue: 1)
  /// The range of the last evaluation, which need not be repeated.
  private var evaluated: Range<Int>?

  init(at index: Int) {
    self.index = index
  }

  /// The probability that the levels of two adjacent parts differ as much as these, at any place of a window: the exact
  /// test of Mann and Whitney (1947), two-sided, times the number of places (Bonferroni).
  ///
  /// Equal values count half, but with the distribution for distinct values, which is wider, so the result is too large
  /// rather than too small: with the distribution for ties (``RankTest/pValue(ofRiseFrom:to:)``) the search took ten
  /// times as long. 1 if it is clearly not significant.
  static func pValue(_ first: ArraySlice<Double>, _ second: ArraySlice<Double>, among values: [Double]) -> Double {
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
    // Within two deviations of the mean (U has the variance nm(n + m + 1)/12) the probability at one place is above
    // 0.04, and it is multiplied by the number of places.
    let distance = Double(pairs) / 2 - Double(against)
    let variance = Double(pairs * (first.count + second.count + 1)) / 12
    guard distance > 0, distance * distance > 4 * variance else { return 1 }
    let wanted = RankTest.orderings(first.count, second.count, upTo: against).reduce(0, +)
    let all = (1...first.count).reduce(1.0) { $0 * Double(second.count + $1) / Double($1) }
    return min(1, 2 * wanted / all * Double(min(values.count, ChangePoints.window)))
  }

  /// Moves to the best split of a range, if there is one.
  fileprivate mutating func relocate(in values: [Double], _ range: Range<Int>) {
    let place = Divergence.split(of: values, range)?.place ?? index
    if place != index { (index, evaluated) = (place, nil) }
  }

  fileprivate mutating func evaluate(in values: [Double], _ range: Range<Int>, _ least: (Double) -> Double) {
    guard range != evaluated else { return }
    evaluated = range
    let (first, second) = (values[range.lowerBound..<index], values[index..<range.upperBound])
    before = Spread.median(Array(first)) ?? 0
    after = Spread.median(Array(second)) ?? 0
    pValue = Self.pValue(first, second, among: values)
    let (rise, needed) = (abs(after - before), least(before))
    if pValue > ChangePoints.significance {
      rejection = .insignificant(pValue: pValue)
    } else if rise == 0 || rise < needed {
      rejection = .small(rise == 0 ? 1 : 1 - rise / needed)
    } else {
      let advantage = RampFit.advantage(overStepAt: index - range.lowerBound, in: values[range])
      rejection = advantage > 0 ? .ramp(advantage) : .none
    }
  }
}

extension [ChangePointCandidate] {
  /// The values between the neighbours of a candidate.
  private func range(of place: Int, in values: [Double]) -> Range<Int> {
    let start = place > 0 ? self[place - 1].index : 0
    let end = place + 1 < count ? self[place + 1].index : values.count
    let index = self[place].index
    return Swift.max(start, index - ChangePoints.reach)..<Swift.min(end, index + ChangePoints.reach)
  }

  /// Moves a candidate to its best place between its neighbours, which differs from that in a window that begins or ends
  /// right beside it.
  mutating func relocate(_ place: Int, in values: [Double]) {
    self[place].relocate(in: values, range(of: place, in: values))
  }

  /// Tests a candidate against its present neighbours.
  mutating func evaluate(_ place: Int, in values: [Double], _ least: (Double) -> Double) {
    self[place].evaluate(in: values, range(of: place, in: values), least)
  }
}
