import Statistics

/// A step that earlier runs of commits in a range already show.
package enum KnownStep {
  /// A gap between two levels that holds this part of the rise over all of them is a step.
  private static let leastShare = 0.75

  /// The last commit before the step and the first after it; nil if the runs show no step.
  ///
  /// The medians of runs have the numbers of their commits, in any order. The range only says where to search first: both
  /// commits are measured anew. So one run of each suffices. Single bad runs do not count.
  package static func range(in medians: [(index: Int, median: Double)], of metric: MetricName) -> ClosedRange<Int>? {
    func least(_ level: Double) -> Double { Tolerance.leastRise(of: metric).allowed(above: [level], of: metric) }
    let all = Dictionary(grouping: medians, by: \.index).sorted { $0.key < $1.key }.compactMap { index, runs in
      Spread.median(runs.map(\.median)).map { (index: index, median: $0) }
    }
    let bad = Set(SeriesAnalysis(of: all.map(\.median), least: least).outliers)
    let levels = all.indices.filter { !bad.contains($0) }.map { all[$0] }
    guard let first = levels.first, let last = levels.last else { return nil }
    let gaps = levels.indices.dropFirst().map { split in
      let before = levels[..<split].map(\.median).max() ?? first.median
      let after = levels[split...].map(\.median).min() ?? last.median
      return (lower: levels[split - 1].index, upper: levels[split].index, rise: after - before, before: before)
    }
    guard let step = gaps.max(by: { $0.rise < $1.rise }),
      step.rise > least(step.before),
      step.rise >= leastShare * (last.median - first.median)
    else { return nil }
    return step.lower...step.upper
  }
}
