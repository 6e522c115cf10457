import Statistics

/// Where a curve becomes steady, and its level from there on.
struct SteadyLevel {
  /// The first bin; nil if there is none.
  let start: Int?
  /// nil if there is none.
  let level: Double?
  let steadiness: Steadiness
  /// Whether there is a level only by bands that are ``BinnedCurve/slack`` times as wide.
  let isNearlySteady: Bool

  /// After a `settle` step that succeeded (`settled` is the time in which memory was steady) there is a level by
  /// definition: that of this time.
  init(of curve: BinnedCurve, readings: [(time: Duration, value: Double)], settled: ClosedRange<Duration>?) {
    if let settled, let level = Spread.median(readings.slice(of: settled, by: \.time).map(\.value)) {
      start = curve.times.firstIndex { $0 >= settled.lowerBound.inSeconds } ?? curve.times.count - 1
      (self.level, steadiness, isNearlySteady) = (level, .steady, false)
      return
    }
    let strict = curve.steadyStart()
    if let strict, let level = curve.level(from: strict) {
      (start, self.level, steadiness, isNearlySteady) = (strict, level, .steady, false)
      return
    }
    start = strict ?? curve.steadyStart(slack: BinnedCurve.slack)
    level = start.flatMap { curve.level(from: $0, slack: BinnedCurve.slack) }
    steadiness = level != nil ? .steady : start != nil ? .drifting : .unsteady
    isNearlySteady = level != nil
  }
}
