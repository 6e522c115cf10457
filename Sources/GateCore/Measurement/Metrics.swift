import Statistics

/// A curve as the medians of equal stretches of time.
struct BinnedCurve {
  /// The middle of each stretch, in seconds since exec.
  let times: [Double]
  let medians: [Double]

  /// Cuts a window of readings, which are in the order of time, into n = min(200, max(40, readings / 5)) stretches.
  ///
  /// A stretch without a reading holds the level before it. nil for fewer than 10 readings, which have no shape.
  init?(_ readings: [(time: Duration, value: Double)], within window: ClosedRange<Duration>) {
    let inside = readings.slice(of: window, by: \.time)
    let length = (window.upperBound - window.lowerBound).inSeconds
    guard inside.count >= 10, length > 0 else { return nil }
    let count = min(200, max(40, inside.count / 5))
    var bins = [[Double]](repeating: [], count: count)
    for reading in inside {
      let share = (reading.time - window.lowerBound).inSeconds / length
      bins[min(count - 1, Int(share * Double(count)))].append(reading.value)
    }
    var level = inside.first?.value ?? 0
    medians = bins.map { bin in
      level = Spread.median(bin) ?? level
      return level
    }
    times = (0..<count).map { window.lowerBound.inSeconds + (Double($0) + 0.5) / Double(count) * length }
  }

  /// The deviation from the level that never counts as movement (a few dozen pages come and go in any process).
  static let quietBand = Double(Bytes.kibibytes(256).count)

  /// The first stretch of the steady state; nil where there is none.
  var steadyStart: Int? {
    SteadyState.start(of: medians, floor: Self.quietBand)
  }

  /// The level of the steady state that begins at this stretch; nil where the curve only rises or falls there.
  ///
  /// A ramp is within its own spread, so that the search for the start accepts it; but its median is a matter of where
  /// the window was cut, and equal runs would differ by it. So a curve that drifts by more than a tenth of its median,
  /// and by more than 1 MiB, has no level. Its growth is a figure of its own.
  func level(from start: Int) -> Double? {
    let (x, y) = (Array(times[start...]), Array(medians[start...]))
    guard let level = Spread.median(y), let first = x.first, let last = x.last else { return nil }
    let drift = (Slope.theilSen(x: x, y: y) ?? 0) * (last - first)
    return abs(drift) > max(0.1 * level, Double(Bytes.mebibytes(1).count)) ? nil : level
  }
}

extension Recording {
  /// The figures that this repetition yields; a metric that cannot be had is missing.
  package func result() -> RepetitionResult {
    RepetitionResult(
      end: end,
      duration: duration,
      processes: processes.count,
      metrics: wholeRunMetrics,
      phases: phases,
      widestGap: widestGap,
      notes: notes + markNotes + briefnessNotes
    )
  }

  /// The largest child, where it held at least half as much again as the main process.
  ///
  /// The main process's figures leave it out: then that one is mostly a shell that started the real program. A forked
  /// copy holds no more than its parent.
  package var overshadowingChild: ProcessRecord? {
    guard let peak, let child = processes.filter({ !$0.isMain }).max(by: { $0.peak < $1.peak }) else { return nil }
    return Double(child.peak.count) >= 1.5 * peak ? child : nil
  }

  /// Growth is per iteration where there are enough iterations for a slope, else per second.
  package var growthIsPerIteration: Bool {
    marks.count { $0.event == .iteration } >= Self.fewestIterations
  }

  /// A slope over fewer turns is mostly the noise of single pages.
  private static let fewestIterations = 10

  /// A slope per second over a shorter steady state is mostly the noise of single pages.
  private static let shortestGrowthWindow = 0.5

  private var wholeRunMetrics: [MetricName: Double] {
    var metrics: [MetricName: Double] = [:]
    metrics[.peakRSS] = peak
    if isReadEnough { metrics[.treePeak] = samples.map(\.tree).max().map { Double($0.count) } }
    let window = Duration.zero...max(.zero, stopRequested ?? duration)
    if let curve = BinnedCurve(residents, within: window), let start = curve.steadyStart {
      metrics[.growth] = growthPerSecond(curve, from: start)
      if let level = curve.level(from: start) {
        metrics[.steadyRSS] = level.rounded()
        metrics[.spike] = spike(above: level, from: curve.times[start], to: window.upperBound)
      }
    }
    if growthIsPerIteration { metrics[.growth] = growthPerIteration }
    metrics[.treeSteady] = Self.steadyLevel(samples.map { ($0.time, Double($0.tree.count)) }, within: window)
    return metrics
  }

  private static func steadyLevel(
    _ readings: [(time: Duration, value: Double)],
    within window: ClosedRange<Duration>
  ) -> Double? {
    guard let curve = BinnedCurve(readings, within: window), let start = curve.steadyStart else { return nil }
    return curve.level(from: start)?.rounded()
  }

  private var residents: [(time: Duration, value: Double)] {
    samples.compactMap { sample in sample.main.map { (sample.time, Double($0.resident.count)) } }
  }

  /// The highest of all high-water marks and readings of the main process.
  ///
  /// The kernel's mark alone may be up to CPUs × 31 pages low after memory was given back, since it is kept by an
  /// inexact read of per-CPU counters (kernel commit f1a7941243c1); a reading is exact.
  private var peak: Double? {
    guard isReadEnough else { return nil }
    let seen = samples.compactMap { $0.main.map { max($0.peak, $0.resident) } } + processes.filter(\.isMain).map(\.peak)
    return seen.max().map { Double($0.count) }.flatMap { $0 > 0 ? $0 : nil }
  }

  /// The highest resident memory in a window: the high-water mark where it rose there, else the highest reading.
  private func highest(in window: ClosedRange<Duration>) -> Double? {
    let inside = samples.slice(of: window, by: \.time).compactMap(\.main)
    guard let before = inside.first?.peak, let reading = inside.map(\.resident).max() else { return nil }
    let mark = inside.map(\.peak).max() ?? before
    return Double(max(reading, mark > before ? mark : reading).count)
  }

  private func spike(above level: Double, from start: Double, to end: Duration) -> Double {
    let begin = min(Duration.seconds(start), end)
    return max(0, (highest(in: begin...end) ?? level) - level).rounded()
  }

  private func growthPerSecond(_ curve: BinnedCurve, from start: Int) -> Double? {
    let times = Array(curve.times[start...])
    guard let first = times.first, let last = times.last, last - first >= Self.shortestGrowthWindow else { return nil }
    return Slope.theilSen(x: times, y: Array(curve.medians[start...]))
  }

  /// The slope over the number of the iteration; nil where the levels of too few iterations are known.
  private var growthPerIteration: Double? {
    let levels = marks.lazy.filter { $0.event == .iteration }.enumerated().compactMap { number, mark in
      mark.resident.map { (number: Double(number), level: Double($0.count)) }
    }
    guard levels.count >= Self.fewestIterations else { return nil }
    let start = SteadyState.start(of: levels.map(\.level), floor: BinnedCurve.quietBand) ?? levels.count / 2
    let kept = levels[start...]
    return Slope.theilSen(x: kept.map(\.number), y: kept.map(\.level))
  }

  private var phases: [RepetitionResult.Phase] {
    let starts = marks.compactMap { mark -> (name: String, time: Duration)? in
      guard case .phase(let name) = mark.event else { return nil }
      return (name, mark.time)
    }
    let finish = max(stopRequested ?? duration, starts.last?.time ?? .zero)
    let readings = residents
    return starts.enumerated().map { index, start in
      let window = start.time...max(start.time, index + 1 < starts.count ? starts[index + 1].time : finish)
      var metrics: [MetricName: Double] = [:]
      metrics[.peakRSS] = highest(in: window)
      metrics[.steadyRSS] = Self.steadyLevel(readings, within: window)
      return RepetitionResult.Phase(name: start.name, metrics: metrics)
    }
  }

  /// Fewer readings than this are of a program that was still being loaded: they tell nothing of it.
  package static let fewestReadings = 5

  /// Below this the last reading may come long before the end: equal runs were seen to differ by up to 34 %.
  private static let briefest = Duration.milliseconds(500)

  private var isReadEnough: Bool {
    samples.count { $0.main != nil } >= Self.fewestReadings
  }

  private var briefnessNotes: [String] {
    guard rung == .sampled, isReadEnough, duration < Self.briefest else { return [] }
    return ["the target ran for less than 0.5 s, which readings of /proc see poorly: its real peak may be higher"]
  }

  private var markNotes: [String] {
    guard unknownMarks > 0 else { return [] }
    let lines = unknownMarks == 1 ? "1 line" : "\(unknownMarks) lines"
    return ["\(lines) written to HIGHWATER_MARKS could not be understood"]
  }
}

extension Array {
  /// The elements whose time lies in the window, where all are in the order of time.
  ///
  /// Found by halving: a target may start phases by the ten thousand, each of which has a window of its own.
  fileprivate func slice(of window: ClosedRange<Duration>, by time: (Element) -> Duration) -> ArraySlice<Element> {
    let start = firstIndex(fromWhere: { time($0) >= window.lowerBound })
    return self[start..<Swift.max(start, firstIndex(fromWhere: { time($0) > window.upperBound }))]
  }

  /// The first index from which on the condition holds, where it holds for all after one for which it does.
  private func firstIndex(fromWhere isBeyond: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
