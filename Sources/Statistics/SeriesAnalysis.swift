/// What happened in a time series: lasting steps, single bad runs, and the levels that it alternates between.
package struct SeriesAnalysis: Sendable, Equatable {
  /// In order.
  package let steps: [ChangePoint]
  /// The indices of single bad runs, ascending.
  package let outliers: [Int]
  /// The two levels that the values since the last step alternate between, ascending; empty if they have one level.
  package let levels: [Double]

  /// - Parameters:
  ///   - values: One finite value for each run.
  ///   - least: The smallest change from a level that counts.
  package init(of values: [Double], least: (_ level: Double) -> Double = { _ in 0 }) {
    steps = ChangePoints.find(in: values, least: least)
    outliers = Outliers.places(in: values, least: least)
    let isBad = Set(outliers)
    let start = steps.last?.index ?? 0
    let modes = Modes(of: values.indices.dropFirst(start).filter { !isBad.contains($0) }.map { values[$0] })
    levels = modes.map { $0.gap > least($0.levels.low) ? [$0.levels.low, $0.levels.high] : [] } ?? []
  }
}
