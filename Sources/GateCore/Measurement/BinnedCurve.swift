import Statistics

/// A curve as the medians of time bins of equal width.
package struct BinnedCurve {
  /// The middle of each bin, in seconds since exec.
  let times: [Double]
  let medians: [Double]
  /// The start of the first bin, and the width of each in seconds.
  private let begin: Duration
  private let width: Double

  /// Divides the samples in a window, ordered by time, into n = min(200, max(40, count / 5)) bins.
  ///
  /// A bin without a sample has the level before it. nil for fewer than ``Steadiness/fewestReadings``, or a
  /// window shorter than ``Steadiness/shortestTime``.
  init?(_ readings: [(time: Duration, value: Double)], within window: ClosedRange<Duration>) {
    let inside = readings.slice(of: window, by: \.time)
    let time = window.upperBound - window.lowerBound
    guard inside.count >= Steadiness.fewestReadings, time >= Steadiness.shortestTime else { return nil }
    let length = time.inSeconds
    let count = min(200, max(40, inside.count / 5))
    (begin, width) = (window.lowerBound, length / Double(count))
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
    times = (0..<count).map { bin -> Double in
      let share = (Double(bin) + 0.5) / Double(count)
      return window.lowerBound.inSeconds + share * length
    }
  }

  /// A deviation from the level that never counts as movement: every process gains and loses a few dozen pages.
  static let quietBand = Double(Bytes.kibibytes(256).count)

  /// The tolerated distance from a steady level: 1 %, or the quiet band.
  package static func band(around level: Double) -> Double {
    max(SteadyState.quietShare * level, quietBand)
  }

  /// By how much the bands are wider that decide whether a curve is nearly steady.
  static let slack = 2.0

  /// The first bin of the steady state; nil if there is none.
  ///
  /// It is searched in running medians of a sixth of the curve, which preserve steps: a rise and fall within half of
  /// that, a fourteenth of the curve, is a spike and not warm-up. With medians of seven bins, a spike of 20 ms in the
  /// middle of a run of one second hid the steady state of 7 of 30 runs; with these, of none (2 CPUs, loaded, 2026-11).
  func steadyStart(slack: Double = 1) -> Int? {
    let width = medians.count / 6 | 1
    let calmed = medians.indices.map { index in
      let first = min(max(0, index - width / 2), medians.count - width)
      return Spread.median(Array(medians[first..<first + width])) ?? medians[index]
    }
    return SteadyState.start(of: calmed, floor: Self.quietBand, slack: slack)
  }

  /// The time at which a bin begins.
  func beginning(of bin: Int) -> Duration {
    begin + .seconds(Double(bin) * width)
  }

  /// The level of the steady state that begins with this bin; nil if the curve only rises or falls from there.
  ///
  /// The search for the start accepts a ramp, which is within its own spread. But the median of a ramp depends on where
  /// the window ends, and would differ between equal runs. So a curve that drifts by more than a tenth of its median
  /// and by more than 1 MiB has no level; it has growth.
  func level(from start: Int, slack: Double = 1) -> Double? {
    let (x, y) = (Array(times[start...]), Array(medians[start...]))
    guard let level = Spread.median(y), let first = x.first, let last = x.last else { return nil }
    let drift = (Slope.theilSen(x: x, y: y) ?? 0) * (last - first)
    return abs(drift) > slack * max(0.1 * level, Double(Bytes.mebibytes(1).count)) ? nil : level
  }
}
