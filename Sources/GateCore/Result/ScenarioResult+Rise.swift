extension ScenarioResult {
  /// The largest rise of the metrics that regressed; nil if none is of memory.
  package var measuredRise: MeasuredRise? {
    let failing = summary.metrics.filter { $0.verdict == .regression }
    guard let kind = ExplainedRise(of: failing.map(\.metric)) else { return nil }
    let amounts = failing.compactMap { metric -> (metric: MetricName, rise: Double)? in
      guard kind != .growth, ExplainedRise(of: [metric.metric]) == kind, let shift = metric.change?.shift, shift > 0
      else { return nil }
      return (metric.metric, shift)
    }
    // Of the same rise the process is more specific than its tree.
    let largest = amounts.max { ($0.rise, $1.metric.isOfTree ? 1 : 0) < ($1.rise, $0.metric.isOfTree ? 1 : 0) }
    return MeasuredRise(
      kind, amount: largest.map { Bytes(clampedFrom: $0.rise) },
      isOfTree: largest?.metric.isOfTree ?? false)
  }
}
