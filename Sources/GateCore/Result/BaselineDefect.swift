/// Why a baseline file is not what one approval wrote.
package enum BaselineDefect: Sendable, Hashable, Codable {
  /// git left a merge conflict in it: what each side approved, nil for a side that cannot be read.
  case mergeConflict(ours: ApprovedMedian?, theirs: ApprovedMedian?)
  /// Its content has changed since the approval: a merge took parts of two baselines, or someone edited it.
  case changed(approval: Approval)

  /// A conflict between two baselines, told by the first metric that differs.
  package init(betweenOurs ours: Baseline?, theirs: Baseline?) {
    let (before, after) = (ours?.medians ?? [:], theirs?.medians ?? [:])
    let names = Set(before.keys).union(after.keys).sorted(by: MetricName.isListedBefore)
    let metric = names.first { before[$0] != after[$0] && before[$0] != nil && after[$0] != nil } ?? names.first
    self = .mergeConflict(
      ours: ours.flatMap { ApprovedMedian(of: metric, in: $0) },
      theirs: theirs.flatMap { ApprovedMedian(of: metric, in: $0) })
  }
}

/// The median of one metric in a baseline, and its approval.
package struct ApprovedMedian: Sendable, Hashable, Codable {
  package var metric: MetricName
  package var unit: String
  package var median: Double
  package var approval: Approval

  package init(metric: MetricName, unit: String, median: Double, approval: Approval) {
    (self.metric, self.unit, self.median, self.approval) = (metric, unit, median, approval)
  }

  /// nil if the baseline lacks the metric.
  fileprivate init?(of metric: MetricName?, in baseline: Baseline) {
    guard let metric, let median = baseline.medians[metric], let approval = baseline.approval else { return nil }
    self.init(metric: metric, unit: baseline.unit(of: metric), median: median, approval: approval)
  }
}
