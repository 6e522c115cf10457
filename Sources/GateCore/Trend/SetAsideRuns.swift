extension Trend {
  /// Finds what happened to many scenarios at once, after the steps of each are known.
  package mutating func findEvents() {
    setAsideCommonOutliers()
    events = EventSearch.events(in: series, runs: runs)
    moveStepsToEvents()
  }

  /// Moves the steps of an event to the event's run if noise allows that date, so that all reports agree on it.
  ///
  /// Each scenario meets a change of the environment in a run of its own.
  private mutating func moveStepsToEvents() {
    let places = Dictionary(runs.enumerated().map { ($0.element.id, $0.offset) }) { first, _ in first }
    for event in events.indices where events[event].kind != .environment {
      guard let run = places[events[event].after.id] else { continue }
      for change in events[event].changes.indices { move(change, of: event, to: run) }
    }
  }

  private mutating func move(_ number: Int, of event: Int, to run: Int) {
    let change = events[event].changes[number]
    let series = series[change.series]
    guard let old = change.run, let new = series.runs.firstIndex(where: { $0.index >= run }), new != old,
      let metric = series.metrics.firstIndex(where: { $0.metric == change.metric })
    else { return }
    let shifts = series.metrics[metric].shifts
    // The shifts stay in order of time.
    let passed = min(old, new)...max(old, new)
    guard shifts.count(where: { passed.contains($0.index) }) == 1,
      let shift = shifts.firstIndex(where: { $0.index == old }), shifts[shift].dates?.contains(new) == true
    else { return }
    self.series[change.series].metrics[metric].shifts[shift].index = new
    events[event].changes[number].run = new
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
