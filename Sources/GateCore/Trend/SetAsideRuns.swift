extension Trend {
  /// Finds what happened to many scenarios at once, after the steps of each are known.
  package mutating func findEvents() {
    setAsideCommonOutliers()
    events = EventSearch.events(in: series, runs: runs)
  }

  /// At least this many scenarios must be outliers in a run for its machine to be to blame.
  private static let fewestOutliers = 3
  /// The same as a share of those that the run has measured.
  private static let shareOfOutliers = 0.5

  /// Sets aside the runs in which many scenarios at once are outliers: no step begins or ends there.
  private mutating func setAsideCommonOutliers() {
    var measured = [Int](repeating: 0, count: runs.count)
    var outliers = measured
    for series in series {
      for index in series.measuredRuns { measured[index] += 1 }
      for index in Set(series.metrics.flatMap(\.outliers)) { outliers[series.runs[index].index] += 1 }
    }
    let bad = runs.indices.filter { run in
      outliers[run] >= Self.fewestOutliers && Double(outliers[run]) >= Self.shareOfOutliers * Double(measured[run])
    }
    guard !bad.isEmpty else { return }
    setAside = bad
    for index in series.indices { series[index].setAside(Set(bad)) }
  }
}

extension ScenarioSeries {
  /// The indices of its runs in ``Trend/runs``, and of those between them if some were omitted.
  fileprivate var measuredRuns: [Int] {
    zip(runs, [nil] + runs).flatMap { run, before in
      run.omitted > 0 ? Array((before.map { $0.index + 1 } ?? 0)...run.index) : [run.index]
    }
  }

  /// Moves the steps that begin in one of these runs to the next run.
  fileprivate mutating func setAside(_ bad: Set<Int>) {
    for index in runs.indices where bad.contains(runs[index].index) { runs[index].isSetAside = true }
    for metric in metrics.indices {
      for shift in metrics[metric].shifts.indices {
        let index = metrics[metric].shifts[shift].index
        guard runs[index].isSetAside, let next = runs[index...].firstIndex(where: { !$0.isSetAside }) else { continue }
        metrics[metric].shifts[shift].index = next
      }
    }
  }
}
