/// A lasting step in a time series.
package struct ChangePoint: Sendable, Equatable {
  /// The first value of the new level.
  package let index: Int
  /// The median before, back to the previous change point and over at most ``ChangePoints/reach`` values.
  package let before: Double
  /// The median from here on, up to the next change point and over at most ``ChangePoints/reach`` values.
  package let after: Double
  /// The probability of such a step at any place of a ``ChangePoints/window`` if the level had not changed.
  package let pValue: Double

  /// By how much the level rose; negative if it fell.
  package var rise: Double { after - before }
}

/// Finds where a time series steps from one level to another and stays there.
///
/// The search is that of Otava (Fleming and others 2023, arXiv 2301.03034): the divergence of Matteson and James (2014,
/// arXiv 1306.4933) splits sliding windows at a significance level ten times too weak, so that a step hidden by others
/// is not missed; then the candidates that are not significant beside their final neighbours are removed one by one.
/// Three rules decide what is a step (``ChangePointCandidate/Rejection``): a rank test instead of Student's t, which
/// raises false alarms for bimodal values; a rise of at least the tolerance; and a step that fits better than a ramp
/// (``RampFit``).
package enum ChangePoints {
  /// How many values are searched at once, and how many places a step in them can have (as in Otava).
  package static let window = 50

  /// How many values on either side of a step are tested: as many as the rank test takes.
  package static let reach = Subsample.limit

  /// The fewest values that make a level: one may be an outlier, and two among 42 are the two highest in 1 of 861 cases,
  /// which happens too often somewhere in 60 values.
  package static let shortest = 3

  /// The probability of a false step in a window.
  ///
  /// In 0.4 to 1.7 % of 1,000 series of 60 values at one level a step is then found if nothing is tolerated, whatever the
  /// noise, as long as runs are independent (our simulation, 2026-11; ci/calibrate.d/RESULTS.md, I). A step three runs
  /// ago needs 24 values before it; six against six are not enough, seven against six are.
  package static let significance = 0.02

  /// By how much the significance of a candidate may be weaker (as in Otava).
  private static let candidateFactor = 10.0

  /// The steps in a time series; none if there are too few values.
  ///
  /// - Parameters:
  ///   - values: One finite value for each run.
  ///   - least: The smallest step from a level that counts.
  /// - Returns: The steps in order.
  package static func find(in values: [Double], least: (_ level: Double) -> Double = { _ in 0 }) -> [ChangePoint] {
    var steps = candidates(in: values).map { ChangePointCandidate(at: $0) }
    for place in steps.indices { steps.relocate(place, in: values) }
    for place in steps.indices { steps.evaluate(place, in: values, least) }
    while let worst = steps.indices.max(by: { steps[$0].rejection < steps[$1].rejection }),
      steps[worst].rejection > .none
    {
      steps.remove(at: worst)
      let neighbours = (worst - 2...worst + 1).filter(steps.indices.contains)
      for place in neighbours where place == worst - 1 || place == worst { steps.relocate(place, in: values) }
      for place in neighbours { steps.evaluate(place, in: values, least) }
    }
    return steps.map { ChangePoint(index: $0.index, before: $0.before, after: $0.after, pValue: $0.pValue) }
  }

  /// The rises that were not reverted: those whose level before is still below the last level, by at least `least`.
  ///
  /// This is the last rule of asv (its `regression` module), applied to each rise.
  package static func unreverted(
    _ points: [ChangePoint],
    least: (_ level: Double) -> Double = { _ in 0 }
  ) -> [ChangePoint] {
    guard let last = points.last?.after else { return [] }
    return points.filter { $0.rise > 0 && last > $0.before && last - $0.before >= least($0.before) }
  }

  /// The values with all steps removed, at the last level: any remaining rise is drift.
  package static func withoutSteps(_ values: [Double], _ points: [ChangePoint]) -> [Double] {
    var level = values
    for point in points {
      for index in 0..<point.index { level[index] += point.rise }
    }
    return level
  }

  /// The places of possible steps, in order.
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
      ChangePointCandidate.pValue(values[range.lowerBound..<place], values[place..<end], among: values)
        <= candidateFactor * significance
    else { return [] }
    return splits(of: values, range.lowerBound..<place) + [place] + splits(of: values, place..<range.upperBound)
  }
}
