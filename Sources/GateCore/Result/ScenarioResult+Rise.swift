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
    let largest = amounts.max { $0.rise < $1.rise }
    // The process's own rise is more specific than that of its tree.
    let own = amounts.filter { !$0.metric.isOfTree }.max { $0.rise < $1.rise }
    let isOwn = own.map { $0.rise >= ProfileComparison.leastShare * (largest?.rise ?? 0) } == true
    let chosen = isOwn ? own : largest
    return MeasuredRise(
      kind, amount: chosen.map { Bytes(clampedFrom: $0.rise) }, isOfTree: chosen?.metric.isOfTree ?? false)
  }
}
