/// A lasting step in a time series.
package struct ChangePoint: Sendable, Equatable {
  /// The first value of the new level.
  package var index: Int
  /// The median before, back to the previous change point and over at most ``ChangePoints/reach`` values; if they drift,
  /// where their line is here.
  package let before: Double
  /// The same from here on, up to the next change point.
  package let after: Double
  /// The probability of such a step at any place of a ``ChangePoints/window`` if the level had not changed and runs were
  /// independent.
  package let pValue: Double

  /// By how much the level rose; negative if it fell.
  package var rise: Double { after - before }
}

/// Finds where a time series steps from one level to another and stays there.
///
/// Optimal partitioning proposes candidates (``Segmentation``), and those that are not steps beside their present neighbours
/// are removed one by one, the one that explains least first (backward elimination). Four rules decide: a step explains
/// the values better than one level with runs that depend on each other (``Autoregression``), a rank test finds the levels
/// distinct, whatever the distribution, it fits better than a ramp (``RampFit``), and the rise is at least the tolerance.
package enum ChangePoints {
  /// The number of places at which a rank test may find a step by chance (as in Otava, arXiv 2301.03034).
  package static let window = 50

  /// How many values on either side of a step are tested: with half as many, one of the 15 series of annotated steps
  /// loses its step, and with more, series that wander have false ones (2026-11).
  package static let reach = 80

  /// The fewest values that make a level: one may be an outlier, and two among 42 are the two highest in 1 of 861 cases,
  /// which happens too often somewhere in 60 values.
  package static let shortest = 3

  /// The probability of a false step in a window, by ranks alone.
  package static let significance = 0.02

  /// The likelihood ratio that a step needs: 7, and 2 for each doubling of the number of places.
  ///
  /// Of 1,000 series of 60 values each without dependence, with an autoregression of 0.5 and of 0.8, 0.1, 0.5 and 1.2 %
  /// have a step then without a tolerance (our simulation, 2026-11; ci/calibrate.d/RESULTS.md, I).
  static func needed(among count: Int) -> Double {
    7 + 2 * Double(Int.bitWidth - 1 - max(1, count).leadingZeroBitCount)
  }

  /// The steps in a time series without outliers; none if there are too few values.
  ///
  /// - Parameters:
  ///   - values: One finite value for each run.
  ///   - least: The smallest step from a level that counts.
  /// - Returns: The steps in order.
  static func find(in values: [Double], least: (_ level: Double) -> Double = { _ in 0 }) -> [ChangePoint] {
    var steps = Segmentation.places(in: values).map { ChangePointCandidate(at: $0) }
    for place in steps.indices { steps.evaluate(place, in: values) }
    while let worst = steps.weakest(where: { !$0.isStep }) {
      steps.remove(at: worst)
      for place in [worst - 1, worst] where steps.indices.contains(place) { steps.relocate(place, in: values) }
      for place in worst - 2...worst + 1 where steps.indices.contains(place) { steps.evaluate(place, in: values) }
    }
    // A small step that is clear explains the values beside a large one, so it goes last, and the others stay clear.
    while let smallest = steps.weakest(where: { !$0.isStep || !$0.isLarge(least) }) {
      steps.remove(at: smallest)
      for place in [smallest - 1, smallest] where steps.indices.contains(place) { steps.widen(place, in: values) }
    }
    return steps.map { ChangePoint(index: $0.index, before: $0.before, after: $0.after, pValue: $0.pValue) }
  }
}
