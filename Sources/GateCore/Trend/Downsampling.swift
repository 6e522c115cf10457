extension ScenarioSeries {
  /// The number of latest runs that are all shown.
  private static let latestRuns = 240
  /// Older runs are divided into this many sections of equal length.
  private static let sections = 80
  /// A program that fails for years needs no more: the number of its first and last failures that are shown.
  private static let mostFailures = 100
  /// The number of a metric's latest outliers that are shown.
  private static let mostOutliers = 100

  /// The series with at most about 600 runs.
  ///
  /// Each section of older runs keeps the runs with the lowest and the highest value of a gated metric (or of the peak
  /// and the steady level without one), the runs around each level shift, the latest outliers, the first run of a
  /// baseline or an environment, and runs with failed repetitions. The range of the next point includes the values of
  /// omitted runs, so that no peak is lost.
  func downsampled() -> ScenarioSeries {
    guard runs.count > Self.latestRuns + 4 * Self.sections else { return self }
    let kept = keptIndices
    var newIndices = [Int](repeating: 0, count: runs.count)
    for (new, old) in kept.enumerated() { newIndices[old] = new }
    var series = self
    series.runs = zip(kept, [-1] + kept).map { index, before in
      var run = runs[index]
      run.omitted = index - before - 1
      return run
    }
    series.metrics = metrics.map { $0.downsampled(to: kept, newIndices) }
    for index in approvals.indices { series.approvals[index].index = newIndices[approvals[index].index] }
    for index in environmentChanges.indices {
      series.environmentChanges[index].index = newIndices[environmentChanges[index].index]
    }
    return series
  }

  /// Ascending.
  private var keptIndices: [Int] {
    let old = runs.count - Self.latestRuns
    let mainMetrics = mainMetrics
    var kept = Set(old..<runs.count)
    for section in 0..<Self.sections {
      let range = section * old / Self.sections..<(section + 1) * old / Self.sections
      for metric in mainMetrics { kept.formUnion(metric.extremes(in: range)) }
    }
    kept.formUnion(metrics.flatMap(\.shifts).flatMap(\.neighbourhood).filter(runs.indices.contains))
    kept.formUnion(metrics.flatMap { $0.outliers.suffix(Self.mostOutliers) })
    kept.formUnion(approvals.map(\.index))
    kept.formUnion(environmentChanges.map(\.index))
    let failures = runs.indices.filter { !runs[$0].failedRepetitions.isEmpty }
    kept.formUnion(failures.prefix(Self.mostFailures) + failures.suffix(Self.mostFailures))
    return kept.sorted()
  }

  private var mainMetrics: [MetricSeries] {
    let judged = metrics.filter { metric in metric.points.contains { $0?.judgement != nil } }
    return judged.isEmpty ? metrics.filter { MetricName.headlines.contains($0.metric) } : Array(judged.prefix(3))
  }
}

extension MetricSeries {
  /// The indices of the lowest and the highest median in the range.
  fileprivate func extremes(in range: Range<Int>) -> [Int] {
    let known = range.filter { points[$0] != nil }
    func median(_ index: Int) -> Double { points[index]?.median ?? 0 }
    return [known.min { median($0) < median($1) }, known.max { median($0) < median($1) }].compactMap(\.self)
  }

  fileprivate func downsampled(to kept: [Int], _ newIndices: [Int]) -> MetricSeries {
    var series = self
    series.points = zip(kept, [-1] + kept).map { index, before in
      guard var point = points[index] else { return nil }
      for omitted in points[(before + 1)..<index].lazy.compactMap(\.self) {
        point.low = min(point.low, omitted.low)
        point.high = max(point.high, omitted.high)
      }
      return point
    }
    for (number, shift) in shifts.enumerated() {
      series.shifts[number].index = newIndices[shift.index]
      series.shifts[number].dates = shift.dates.map { newIndices[$0.lowerBound]...newIndices[$0.upperBound] }
    }
    series.outliers = outliers.filter(Set(kept).contains).map { newIndices[$0] }
    return series
  }
}

extension LevelShift {
  /// The runs at which it can have happened, and one run before and after them.
  fileprivate var neighbourhood: ClosedRange<Int> {
    let dates = dates ?? index...index
    return min(index, dates.lowerBound) - 1...max(index, dates.upperBound) + 1
  }
}
