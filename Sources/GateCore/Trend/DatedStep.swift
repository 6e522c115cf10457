/// A step of one metric, with the commits that can have caused it.
struct DatedStep {
  /// Where it is in the trend.
  let series: Int
  let metric: Int
  let shift: LevelShift
  /// Positions in ``BranchCommits``: from the one after the last run at the old level to the first run at the new one.
  let commits: ClosedRange<Int>
  /// The same if the date is wrong by as much as its noise allows.
  let possibleCommits: ClosedRange<Int>
  /// Indices in ``Trend/runs``.
  let runBefore: Int?
  let runAfter: Int
  /// How the environment changed between them.
  let environment: [Fingerprint.Difference]

  /// The scenario's metric in its environment, of which an event has one step.
  var key: [Int] { [series, metric] }

  init(_ shift: LevelShift, of metric: Int, in series: ScenarioSeries, number: Int, _ commits: BranchCommits) {
    (self.series, self.metric, self.shift) = (number, metric, shift)
    func run(_ index: Int) -> Int { series.runs[index].index }
    func lastRun(before index: Int) -> Int? {
      series.runs[..<index].lastIndex { $0.verdict != .failed && !$0.isSetAside }.map(run)
    }
    func range(from first: Int, to last: Int) -> ClosedRange<Int> {
      let end = commits[run(last)]
      return min(lastRun(before: first).map { commits[$0] + 1 } ?? end, end)...end
    }
    runBefore = lastRun(before: shift.index)
    runAfter = run(shift.index)
    self.commits = range(from: shift.index, to: shift.index)
    let dates = shift.dates ?? shift.index...shift.index
    let possible = range(from: dates.lowerBound, to: dates.upperBound)
    possibleCommits =
      min(possible.lowerBound, self.commits.lowerBound)...max(possible.upperBound, self.commits.upperBound)
    let change = series.environmentChanges.first { dates.contains($0.index) || $0.index == shift.index }
    environment = change?.differences ?? []
  }
}
