/// A possible step in a series, tested against its neighbours.
struct ChangePointCandidate {
  private(set) var index: Int
  private(set) var before = 0.0
  private(set) var after = 0.0
  private(set) var pValue = 1.0
  /// The squared distances that two levels explain beyond one.
  private(set) var gain = 0.0
  fileprivate(set) var isStep = false
  /// The candidates around it when it was tested.
  fileprivate var neighbours: [Int] = []

  init(at index: Int) {
    self.index = index
  }

  /// Whether the levels differ by at least the tolerance.
  func isLarge(_ least: (_ level: Double) -> Double) -> Bool {
    before != after && abs(after - before) >= least(before)
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
    index = best.place
  }

  /// Determines the levels of both sides at the place of the step.
  fileprivate mutating func measure(_ first: ArraySlice<Double>, _ second: ArraySlice<Double>) {
    before = Self.level(of: first, at: index)
    after = Self.level(of: second, at: index)
  }

  /// The median of a part; at this place of its line if it drifts, since the drift is not a part of the step.
  private static func level(of part: ArraySlice<Double>, at place: Int) -> Double {
    let level = Spread.median(Array(part)) ?? 0
    guard part.count >= RampFit.shortest else { return level }
    let middle = Double(part.startIndex + part.endIndex - 1) / 2
    let (products, squares) = part.indices.reduce((0.0, 0.0)) { sums, index in
      let distance = Double(index) - middle
      return (sums.0 + distance * (part[index] - level), sums.1 + distance * distance)
    }
    let slope = products / squares
    let (rise, noise) = (abs(slope) * Double(part.count), Drift.noise(of: Array(part)))
    let rest = part.indices.map { part[$0] - slope * Double($0 - place) }
    // A part that consists of small steps instead leaves more.
    let isLine = Spread.noise(rest) <= max(1.5 * noise, rise / 50)
    guard isLine, Drift.isDrift(rise, tolerated: 0, noise: noise) else { return level }
    return Spread.median(rest) ?? level
  }

  /// Tests the values on both sides, of `count` in the series.
  fileprivate mutating func evaluate(_ first: ArraySlice<Double>, _ second: ArraySlice<Double>, among count: Int) {
    func mean(_ part: ArraySlice<Double>) -> Double { part.reduce(0, +) / Double(part.count) }
    let rise = mean(second) - mean(first)
    gain = rise * rise * Double(first.count * second.count) / Double(first.count + second.count)
    isStep =
      min(first.count, second.count) >= ChangePoints.shortest
      && Autoregression.strength(ofStepBetween: first, and: second) >= ChangePoints.needed(among: count)
    guard isStep else { return }
    pValue = Self.pValue(Subsample.of(Array(first)), Subsample.of(Array(second)), among: count)
    isStep = pValue <= ChangePoints.significance
  }
}

extension [ChangePointCandidate] {
  /// The candidate that explains least, of those to which a condition applies.
  func weakest(where condition: (ChangePointCandidate) -> Bool) -> Int? {
    indices.filter { condition(self[$0]) }.min { self[$0].gain < self[$1].gain }
  }

  /// The values between the neighbours of a candidate.
  private func range(of place: Int, in values: [Double]) -> Range<Int> {
    let start = place > 0 ? self[place - 1].index : 0
    let end = place + 1 < count ? self[place + 1].index : values.count
    let index = self[place].index
    return Swift.max(start, index - ChangePoints.reach)..<Swift.min(end, index + ChangePoints.reach)
  }

  private func sides(of place: Int, in values: [Double]) -> (ArraySlice<Double>, ArraySlice<Double>) {
    let (range, index) = (range(of: place, in: values), self[place].index)
    return (values[range.lowerBound..<index], values[index..<range.upperBound])
  }

  /// Moves a candidate to its best place between its neighbours.
  mutating func relocate(_ place: Int, in values: [Double]) {
    self[place].relocate(in: values, range(of: place, in: values))
  }

  /// Tests a candidate against its present neighbours.
  mutating func evaluate(_ place: Int, in values: [Double]) {
    let neighbours = self[Swift.max(0, place - 2)..<Swift.min(count, place + 3)].map(\.index)
    guard neighbours != self[place].neighbours else { return }
    self[place].neighbours = neighbours
    let (first, second) = sides(of: place, in: values)
    self[place].measure(first, second)
    self[place].evaluate(first, second, among: values.count)
    self[place].isStep = self[place].isStep && !isRamp(place, in: values)
  }

  /// Determines the levels of a step whose small neighbour was removed: it may be a part of a ramp then.
  mutating func widen(_ place: Int, in values: [Double]) {
    let (first, second) = sides(of: place, in: values)
    self[place].measure(first, second)
    self[place].isStep = !isRamp(place, in: values)
  }

  /// Whether a ramp fits better than the candidate, alone or with a neighbour of the same direction.
  private func isRamp(_ place: Int, in values: [Double]) -> Bool {
    [place...place, place - 1...place, place...place + 1].contains { steps in
      guard steps.allSatisfy({ indices.contains($0) && isRise($0) == isRise(place) }) else { return false }
      let start = range(of: steps.lowerBound, in: values).lowerBound
      let part = values[start..<range(of: steps.upperBound, in: values).upperBound]
      let places = self[steps].map { $0.index - start }
      return RampFit.isBetter(thanStepsAt: places, without: self[place].index - start, in: part)
    }
  }

  private func isRise(_ place: Int) -> Bool { self[place].after > self[place].before }
}
