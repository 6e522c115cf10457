extension ScenarioResult {
  /// A rise below this multiple of what equal repetitions can hide is not explained if another one is above it: a profile
  /// has two or three repetitions, in which the noise may be as large.
  private static let clearFactor = 4.0

  /// The largest rise of the metrics that regressed; nil if none is of memory.
  ///
  /// As two workers that now and then load at the same time, whose tree has a peak that varies by more than a rise of its
  /// steady level.
  package var measuredRise: MeasuredRise? {
    let regressed = summary.metrics.filter { $0.verdict == .regression && ExplainedRise(of: [$0.metric]) != nil }
    let clear = regressed.filter { $0.isRise(clearerThan: Self.clearFactor) }
    let failing = clear.isEmpty ? regressed : clear
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

extension MetricResult {
  /// Whether it rose by more than a multiple of the smallest rise that the noise lets be seen, if that is known.
  fileprivate func isRise(clearerThan factor: Double) -> Bool {
    guard let shift = change?.shift, let resolution else { return true }
    return shift > factor * resolution
  }
}
