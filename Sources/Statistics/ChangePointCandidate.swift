/// A possible step in a series, tested against its neighbours.
struct ChangePointCandidate {
  /// Why a candidate is not a step; the candidate with the greatest is removed first.
  enum Rejection: Comparable {
    case none
    /// A ramp fits the values better, by this many variances.
    case ramp(Double)
    /// The ranks of values of one level would differ so with this probability.
    case indistinct(pValue: Double)
    /// One level from which values wander explains them nearly as well; the needed strength by that of the step.
    case insignificant(Double)
  }

  private(set) var index: Int
  private(set) var before = 0.0
  private(set) var after = 0.0
  private(set) var pValue = 1.0
  private(set) var rejection = Rejection.none
  /// The range of the last evaluation, which need not be repeated.
  private var evaluated: Range<Int>?

  init(at index: Int) {
    self.index = index
  }

  /// The probability that the ranks of two adjacent parts differ as much as these, at any place of a window: the exact
  /// test of Mann and Whitney (1947), two-sided, times the number of places (Bonferroni).
  ///
  /// Equal values count half, but with the distribution for distinct values, which is wider, so the result is too large
  /// rather than too small: with the distribution for ties (``RankTest/pValue(ofRiseFrom:to:)``) the search took ten
  /// times as long. 1 if it is clearly not significant. All values of one part above all of the other are at most
  /// ``ChangePoints/significance``: how many runs there are must not decide about a clear step.
  static func pValue(_ first: [Double], _ second: [Double], among count: Int) -> Double {
    let (rises, falls) = second.reduce((0, 0)) { sums, later in
      (sums.0 + first.count { later > $0 }, sums.1 + first.count { later < $0 })
    }
    let pairs = first.count * second.count
    let against = (pairs - abs(rises - falls) + 1) / 2
    // Within two deviations of the mean (U has the variance nm(n + m + 1)/12) the probability at one place is above
    // 0.04, and it is multiplied by the number of places.
    let distance = Double(pairs) / 2 - Double(against)
    let variance = Double(pairs * (first.count + second.count + 1)) / 12
    guard distance > 0, distance * distance > 4 * variance || against == 0 else { return 1 }
    let wanted = RankTest.orderings(first.count, second.count, upTo: against).reduce(0, +)
    let all = (1...first.count).reduce(1.0) { $0 * Double(second.count + $1) / Double($1) }
    let pValue = min(1, 2 * wanted / all * Double(min(count, ChangePoints.window)))
    return against == 0 ? min(pValue, ChangePoints.significance) : pValue
  }

  /// Moves to the split of a range with the largest difference of means, in deviations.
  fileprivate mutating func relocate(in values: [Double], _ range: Range<Int>) {
    let mean = values[range].reduce(0, +) / Double(range.count)
    var (sum, best) = (0.0, (square: 0.0, place: index))
    for place in range.dropFirst() {
      sum += values[place - 1] - mean
      guard min(place - range.lowerBound, range.upperBound - place) >= ChangePoints.shortest else { continue }
      let square = sum * sum / Double((place - range.lowerBound) * (range.upperBound - place))
      if square > best.square { best = (square, place) }
    }
    if best.place != index { (index, evaluated) = (best.place, nil) }
  }

  /// By how much the step is smaller than the tolerance, as a share of it; 1 if it is a ramp or the levels are equal, and 0
  /// if it is not smaller.
  func shortfall(of least: (_ level: Double) -> Double) -> Double {
    let rise = abs(after - before)
    return rise == 0 || rejection > .none ? 1 : max(0, 1 - rise / max(rise, least(before)))
  }

  private mutating func measure(_ first: ArraySlice<Double>, _ second: ArraySlice<Double>) {
    before = Spread.median(Array(first)) ?? 0
    after = Spread.median(Array(second)) ?? 0
  }

  /// Determines the levels of a wider range, in which the step may be a part of a ramp.
  fileprivate mutating func widen(in values: [Double], _ range: Range<Int>) {
    measure(values[range.lowerBound..<index], values[index..<range.upperBound])
    let advantage = RampFit.advantage(overStepAt: index - range.lowerBound, in: values[range])
    rejection = advantage > 0 ? .ramp(advantage) : .none
  }

  fileprivate mutating func evaluate(in values: [Double], _ range: Range<Int>) {
    guard range != evaluated else { return }
    evaluated = range
    let (first, second) = (values[range.lowerBound..<index], values[index..<range.upperBound])
    measure(first, second)
    rejection = rejection(of: first, second, in: values)
  }

  private mutating func rejection(
    of first: ArraySlice<Double>, _ second: ArraySlice<Double>, in values: [Double]
  ) -> Rejection {
    guard min(first.count, second.count) >= ChangePoints.shortest else { return .insignificant(.infinity) }
    let needed = ChangePoints.needed(among: values.count)
    let strength = Autoregression.strength(ofStepBetween: first, and: second) / needed
    guard strength >= 1 else { return .insignificant(1 / strength) }
    pValue = Self.pValue(Subsample.of(Array(first)), Subsample.of(Array(second)), among: values.count)
    guard pValue <= ChangePoints.significance else { return .indistinct(pValue: pValue) }
    let advantage = RampFit.advantage(overStepAt: first.count, in: values[first.startIndex..<second.endIndex])
    return advantage > 0 ? .ramp(advantage) : .none
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

  /// Moves a candidate to its best place between its neighbours.
  mutating func relocate(_ place: Int, in values: [Double]) {
    self[place].relocate(in: values, range(of: place, in: values))
  }

  /// Tests a candidate against its present neighbours.
  mutating func evaluate(_ place: Int, in values: [Double]) {
    self[place].evaluate(in: values, range(of: place, in: values))
  }

  /// Determines the levels of a step whose small neighbour was removed.
  mutating func widen(_ place: Int, in values: [Double]) {
    self[place].widen(in: values, range(of: place, in: values))
  }
}
