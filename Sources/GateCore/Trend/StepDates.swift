extension MetricSeries {
  /// The series with the range of runs at which each of its steps may have happened, according to those runs that count:
  /// the values of a failed run are those of an unfinished program, and single bad runs say nothing about the date.
  func withStepDates(among counts: (Int) -> Bool) -> MetricSeries {
    guard !shifts.isEmpty else { return self }
    let bad = Set(outliers)
    let known = points.indices.filter { points[$0] != nil && counts($0) && !bad.contains($0) }
    let values = known.map { points[$0]?.median ?? 0 }
    let places = shifts.map { shift in known.firstIndex { $0 >= shift.index } ?? known.count }
    var series = self
    for (number, place) in places.enumerated() where place < known.count {
      let start = number > 0 ? places[number - 1] : 0
      let end = number + 1 < places.count ? places[number + 1] : known.count
      guard start < place, place < end else { continue }
      let dates = StepDates(of: shifts[number], at: place, in: start..<end, of: values).range
      series.shifts[number].dates = known[dates.lowerBound]...known[dates.upperBound]
    }
    return series
  }
}

/// The dates of a step that its neighbouring values allow.
private struct StepDates {
  private(set) var range: ClosedRange<Int>

  /// A detector rarely misses the date of a step that is worth reporting by more (ci/calibrate.d/RESULTS.md, I).
  private static let mostRuns = 5
  /// The number of values on each side from which the noise is estimated.
  private static let neighbours = 30
  /// A date that is less than a twentieth as likely as the best is ruled out: exp(-3).
  private static let mostUnlikely = 3.0

  init(of shift: LevelShift, at place: Int, in bounds: Range<Int>, of values: [Double]) {
    let before = values[max(bounds.lowerBound, place - Self.neighbours)..<place].map { abs($0 - shift.before) }
    let after = values[place..<min(bounds.upperBound, place + Self.neighbours)].map { abs($0 - shift.after) }
    let noise = (before + after).reduce(0, +) / Double(before.count + after.count)
    // The logarithm of the likelihood ratio for Laplace noise, which a single bad run hardly moves.
    func cost(_ value: Double) -> Double { abs(value - shift.after) - abs(value - shift.before) }
    range = place...place
    var sum = 0.0
    for date in stride(from: place - 1, through: max(bounds.lowerBound + 1, place - Self.mostRuns), by: -1) {
      sum += cost(values[date])
      if sum <= Self.mostUnlikely * noise { range = date...range.upperBound }
    }
    sum = 0
    for date in stride(from: place + 1, through: min(bounds.upperBound - 1, place + Self.mostRuns), by: 1) {
      sum -= cost(values[date - 1])
      if sum <= Self.mostUnlikely * noise { range = range.lowerBound...date }
    }
  }
}
