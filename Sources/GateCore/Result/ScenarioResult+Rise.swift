extension ScenarioResult {
  /// A rise below this multiple of what equal repetitions can hide is not explained if another one is above it: a profile
  /// has two or three repetitions, in which the noise may be as large.
  private static let clearFactor = 4.0

  /// The largest rises of the metrics that regressed, one of each kind, the one to be explained first; empty if none is of
  /// memory.
  ///
  /// The peak comes first, unless another one is clearer: as of two workers that now and then load at the same time, whose
  /// tree has a peak that varies by more than a rise of its steady level. Growth that makes most of what a level rose by comes
  /// before it: both moments are of the same runs, so that nothing else differs.
  package var measuredRises: [MeasuredRise] {
    let regressed = summary.metrics.filter { $0.verdict == .regression && ExplainedRise(of: [$0.metric]) != nil }
    let clear = regressed.filter { $0.isRise(clearerThan: Self.clearFactor) }
    let unclear = regressed.filter { metric in !clear.contains { $0.metric == metric.metric } }
    let kinds: [ExplainedRise] = isLevelOfGrowth ? [.peak, .growth, .steady] : [.peak, .steady, .growth]
    var rises: [MeasuredRise] = []
    for (metrics, kind) in [clear, unclear].flatMap({ metrics in kinds.map { (metrics, $0) } }) {
      let ofKind = metrics.filter { ExplainedRise(of: [$0.metric]) == kind }
      if !ofKind.isEmpty, !rises.contains(where: { $0.kind == kind }) { rises.append(Self.rise(kind, of: ofKind)) }
    }
    return rises
  }

  /// Whether the growth over the judged iterations is most of what a level rose by.
  private var isLevelOfGrowth: Bool {
    let regressed = summary.metrics.filter { $0.verdict == .regression }
    let iterations = repetitions.compactMap { $0.growth?.iterations }.sorted()
    guard summary.growthIsPerIteration, !iterations.isEmpty,
      let growth = regressed.first(where: { $0.metric == .growth })?.change?.shift
    else { return false }
    let levels = regressed.filter { ExplainedRise(of: [$0.metric]) == .steady }.compactMap { $0.change?.shift }
    return growth * Double(iterations[iterations.count / 2]) >= ProfileComparison.leastShare
      * (levels.max() ?? .infinity)
  }

  private static func rise(_ kind: ExplainedRise, of failing: [MetricResult]) -> MeasuredRise {
    let amounts = failing.compactMap { metric -> (metric: MetricName, rise: Double)? in
      guard kind != .growth, let shift = metric.change?.shift, shift > 0 else { return nil }
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
