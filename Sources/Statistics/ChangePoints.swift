/// A lasting step in values in the order of time.
package struct ChangePoint: Sendable, Equatable {
  /// The first value of the new level.
  package let index: Int
  /// The level before, up to the change point before and at most ``ChangePoints/reach`` values back: their median.
  package let before: Double
  /// The level from here on, up to the next change point and over at most ``ChangePoints/reach`` values: their median.
  package let after: Double
  /// The chance of such a step among values of one level, at any place of a ``ChangePoints/window`` of them.
  package let chance: Double

  /// By how much the level rose; less than zero where it fell.
  package var rise: Double { after - before }
}

/// Where values in the order of time step from one level to another and stay there.
///
/// The search is that of Otava (Fleming and others 2023, arXiv 2301.03034): the divergence of Matteson and James (2014,
/// arXiv 1306.4933) splits windows that go along the values, by a chance ten times too high at first, so that a step
/// that others hide is not lost; then those that are no step beside their final neighbours are taken out one by one.
/// What is a step is decided otherwise, by three rules (``Step/Doubt``): ranks instead of Student's t, which has false
/// alarms in values of two levels; at least what is tolerated; and no slow rise (``SlowRise``).
package enum ChangePoints {
  /// How many values are searched at once, and how many places a step in them can have (Otava's own).
  package static let window = 50

  /// How far the values on either side of a step reach that it is judged by: as many as rank tests are made with.
  package static let reach = Sample.most

  /// The fewest values that are a level: one may be an outlier, and two among 42 are the two highest in 1 of 861 cases,
  /// which happens somewhere in 60 values too often.
  package static let shortest = 3

  /// The chance of a false step in a window that is borne.
  ///
  /// Of 1,000 series of 60 values at one level 0.4 to 1.7 % then have a step if nothing is tolerated, whatever the noise as
  /// long as runs do not depend on each other (our simulation, 2026-11; ci/calibrate.d/RESULTS.md, I). A step three runs
  /// ago needs 24 values before it; six against six are not enough, seven against six are.
  package static let limit = 0.02

  /// How much of ``limit`` a place of the search may have at first (Otava's own).
  private static let slack = 10.0

  /// The steps in values in the order of time; none where there are too few values to tell.
  ///
  /// - Parameters:
  ///   - values: One for each run, all of them numbers.
  ///   - least: The smallest step from a level that is one.
  /// - Returns: The steps in order, which overlap nowhere.
  package static func find(in values: [Double], least: (_ level: Double) -> Double = { _ in 0 }) -> [ChangePoint] {
    var steps = candidates(in: values).map { Step(at: $0) }
    for place in steps.indices { steps.locate(place, in: values) }
    for place in steps.indices { steps.weigh(place, in: values, least) }
    while let worst = steps.indices.max(by: { steps[$0].doubt < steps[$1].doubt }), steps[worst].doubt > .none {
      steps.remove(at: worst)
      let beside = (worst - 2...worst + 1).filter(steps.indices.contains)
      for place in beside where place == worst - 1 || place == worst { steps.locate(place, in: values) }
      for place in beside { steps.weigh(place, in: values, least) }
    }
    return steps.map { ChangePoint(index: $0.index, before: $0.before, after: $0.after, chance: $0.chance) }
  }

  /// The rises that still matter after all steps: those whose level before is still below the last level, by at least
  /// `least`.
  ///
  /// That is the last rule of asv (its `regression` module) for each rise by itself: one that was taken back is history.
  package static func standing(
    _ points: [ChangePoint],
    least: (_ level: Double) -> Double = { _ in 0 }
  ) -> [ChangePoint] {
    guard let last = points.last?.after else { return [] }
    return points.filter { $0.rise > 0 && last > $0.before && last - $0.before >= least($0.before) }
  }

  /// The values as they would be had the last level been there from the start: what is left to rise in them is creep.
  package static func withoutSteps(_ values: [Double], _ points: [ChangePoint]) -> [Double] {
    var level = values
    for point in points {
      for index in 0..<point.index { level[index] += point.rise }
    }
    return level
  }

  /// Where steps might be, in order.
  private static func candidates(in values: [Double]) -> [Int] {
    var found: Set<Int> = []
    var start = 0
    while start < values.count {
      let end = min(start + window, values.count)
      let new = splits(of: values, start..<end)
      found.formUnion(new)
      guard end < values.count else { break }
      start = max(new.last ?? 0, start + window / 2)
    }
    return found.sorted()
  }

  private static func splits(of values: [Double], _ range: Range<Int>) -> [Int] {
    guard let (place, end) = Divergence.split(of: values, range),
      Step.chance(values[range.lowerBound..<place], values[place..<end], among: values) <= slack * limit
    else { return [] }
    return splits(of: values, range.lowerBound..<place) + [place] + splits(of: values, place..<range.upperBound)
  }
}
