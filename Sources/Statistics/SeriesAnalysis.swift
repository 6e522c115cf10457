/// What happened in a time series: lasting steps, single bad runs, and the levels that it alternates between.
package struct SeriesAnalysis: Sendable, Equatable {
  /// In order.
  package let steps: [ChangePoint]
  /// The indices of single bad runs, ascending.
  package let outliers: [Int]
  /// The two levels that the values since the last step alternate between, ascending; empty if they have one level.
  package let levels: [Double]

  /// The number of steps between the same two levels, one after the other, that make them levels of one program: a
  /// change, its reversion, and both again may be the work of people.
  private static let flips = 4

  /// - Parameters:
  ///   - values: One finite value for each run.
  ///   - least: The smallest change from a level that counts.
  package init(of values: [Double], least: (_ level: Double) -> Double = { _ in 0 }) {
    // With the high level moved to the low one, a step in both is seen, and chance in their order is not.
    let aligned = Modes(alternatingIn: values[...], least: least)?.aligned(values) ?? values
    let bad = Outliers.places(in: aligned, least: least)
    let isBad = Set(bad)
    let sound = values.indices.filter { !isBad.contains($0) }
    let found = ChangePoints.find(in: sound.map { aligned[$0] }, least: least)
    let flips = Self.flips(among: found)
    steps = found.indices.filter { !flips.contains($0) }.map { place in
      var step = found[place]
      step.index = sound[step.index]
      return step
    }
    let modes = Modes(alternatingIn: values[(steps.last?.index ?? 0)...], least: least)
    let isFlipping = found.last.map { flips.contains(found.count - 1) ? [$0.before, $0.after].sorted() : [] } ?? []
    levels = modes.map { [$0.levels.low, $0.levels.high] } ?? isFlipping
    // A run at the other of two levels is not a bad one.
    outliers = bad.filter { [levels] index in !levels.contains { abs($0 - values[index]) <= Self.gap(levels) / 4 } }
  }

  /// The places of steps between the same two levels, at least ``flips`` in a row.
  private static func flips(among steps: [ChangePoint]) -> Set<Int> {
    var (flipping, start) = (Set<Int>(), 0)
    for place in steps.indices.dropFirst() {
      let (last, this) = (steps[place - 1], steps[place])
      if abs(this.after - last.before) > abs(last.rise) / 4 { start = place }
      if place - start + 1 >= flips { flipping.formUnion(start...place) }
    }
    return flipping
  }

  private static func gap(_ levels: [Double]) -> Double { (levels.last ?? 0) - (levels.first ?? 0) }

  /// The distance of the two levels; 0 if there is one.
  package var gap: Double { Self.gap(levels) }

  /// The rises that were not reverted: those whose level before is still below the last level, by at least `least`.
  ///
  /// This is the last rule of asv (its `regression` module), applied to each rise.
  package func unreverted(least: (_ level: Double) -> Double = { _ in 0 }) -> [ChangePoint] {
    guard let last = steps.last?.after else { return [] }
    return steps.filter { $0.rise > 0 && last > $0.before && last - $0.before >= least($0.before) }
  }

  /// The values with all steps removed, at the last level: any remaining rise is drift.
  package func withoutSteps(_ values: [Double]) -> [Double] {
    var level = values
    for step in steps {
      for index in 0..<step.index { level[index] += step.rise }
    }
    return level
  }
}
