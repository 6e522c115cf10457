import Statistics

/// The memory of one repetition over time, downsampled for charts; verdicts depend on metrics only.
///
/// Times count from the target's exec.
package struct MemoryCurve: Sendable, Equatable, Codable {
  /// A named event.
  package struct Instant: Sendable, Equatable, Codable {
    package var name: String
    package var time: Duration

    package init(_ name: String, at time: Duration) {
      (self.name, self.time) = (name, time)
    }
  }

  /// The highest memory of the main process, and the times between which it occurred.
  package struct Peak: Sendable, Equatable, Codable {
    package var height: Bytes
    package var after: Duration
    package var before: Duration

    package init(height: Bytes, after: Duration, before: Duration) {
      (self.height, self.after, self.before) = (height, after, before)
    }
  }

  /// A straight line through the steady state with the slope of growth.
  package struct Stretch: Sendable, Equatable, Codable {
    package var from: Duration
    package var to: Duration
    package var first: Bytes
    package var last: Bytes

    package init(from: Duration, to: Duration, first: Bytes, last: Bytes) {
      (self.from, self.to, self.first, self.last) = (from, to, first, last)
    }
  }

  /// The main process.
  package var main: MemorySeries
  /// The process tree; nil if it had a single process.
  package var tree: MemorySeries?
  /// The stop request or the end of the target; also the end of the last phase.
  package var end: Duration
  /// Each phase lasts until the next one; at most ``mostInstants``.
  package var phases: [Instant]
  /// Named marks, and the first report of each loop; at most ``mostInstants``.
  package var marks: [Instant]
  package var iterations: Int
  package var peak: Peak?
  /// Also for a state that only rises or falls and thus has no level; nil if there is no steady state.
  package var steady: Stretch?

  /// A chart has no space for more labels.
  package static let mostInstants = 60

  package init(
    main: MemorySeries,
    tree: MemorySeries? = nil,
    end: Duration,
    phases: [Instant] = [],
    marks: [Instant] = [],
    iterations: Int = 0,
    peak: Peak? = nil,
    steady: Stretch? = nil
  ) {
    self.main = main
    self.tree = tree
    self.end = end
    self.phases = phases
    self.marks = marks
    self.iterations = iterations
    self.peak = peak
    self.steady = steady
  }
}

/// Memory over time, in groups of neighbouring samples: each point has the range of its group, so that no peak is lost.
package struct MemorySeries: Sendable, Equatable {
  package struct Point: Sendable, Equatable {
    /// The time of the highest sample of the group, rounded to ``MemorySeries/tick``.
    package var time: Duration
    package var low: Bytes
    package var high: Bytes

    package init(time: Duration, low: Bytes, high: Bytes) {
      (self.time, self.low, self.high) = (time, low, high)
    }
  }

  /// In order of time.
  package let points: [Point]

  /// Enough for a chart of 700 pixels; 32 bytes each.
  package static let mostPoints = 120
  /// Enough for a chart's second line: a process tree or a baseline.
  package static let mostSecondaryPoints = 60
  /// The resolution of times, far below the sampling interval.
  package static let tick = Duration.microseconds(100)

  /// The points must be in order of time.
  package init(_ points: [Point]) {
    self.points = points
  }

  /// Groups samples, ordered by time, into equal time spans.
  init(_ readings: some Sequence<(time: Duration, level: Bytes)>, atMost most: Int = mostPoints) {
    self = MemorySeries(readings.map { Point(time: Self.rounded($0.time), low: $0.level, high: $0.level) })
      .downsampled(to: most)
  }

  /// The series in at most this many points, each for an equal time span; spans without a sample have none.
  package func downsampled(to most: Int) -> MemorySeries {
    guard points.count > most, let first = points.first?.time, let last = points.last?.time else { return self }
    let width = max(Double((last - first).nanoseconds) / Double(most), 1)
    var groups: [(span: Int, point: Point)] = []
    for point in points {
      let span = min(most - 1, Int(Double((point.time - first).nanoseconds) / width))
      guard let index = groups.indices.last, groups[index].span == span else {
        groups.append((span, point))
        continue
      }
      if point.high > groups[index].point.high {
        groups[index].point.high = point.high
        groups[index].point.time = point.time
      }
      groups[index].point.low = min(groups[index].point.low, point.low)
    }
    return MemorySeries(groups.map(\.point))
  }

  private static func rounded(_ time: Duration) -> Duration {
    let tick = tick.nanoseconds
    return .nanoseconds((time.nanoseconds + tick / 2) / tick * tick)
  }
}

// MARK: - Of a recording

extension Recording {
  /// The curve without its steady state; nil if the main process was never sampled.
  ///
  /// `peak` is the metric, and `end` the end of the last phase.
  func curve(in envelope: Envelope, peak: Double?, until end: Duration) -> MemoryCurve? {
    let main = MemorySeries(samples.lazy.compactMap { sample in sample.main.map { (sample.time, $0.resident) } })
    guard !main.points.isEmpty else { return nil }
    let hasTree = samples.contains { $0.processes > 1 }
    let tree = MemorySeries(samples.lazy.map { ($0.time, $0.tree) }, atMost: MemorySeries.mostSecondaryPoints)
    var curve = MemoryCurve(main: main, tree: hasTree ? tree : nil, end: end)
    for mark in marks {
      switch mark.event {
      case .phase(let name): curve.add(MemoryCurve.Instant(name, at: mark.time), to: \.phases)
      case .mark where mark.event.activity != nil: break
      case .mark(let name): curve.add(MemoryCurve.Instant(name, at: mark.time), to: \.marks)
      case .value:
        // Values are metrics; a line for each would hide the curve. A continuing loop is reported repeatedly.
        guard let loop = mark.event.loopName, !curve.marks.contains(where: { $0.name == "loop.\(loop)" }) else { break }
        curve.add(MemoryCurve.Instant("loop.\(loop)", at: mark.time), to: \.marks)
      case .iteration: curve.iterations += 1
      }
    }
    curve.peak = peak.map { place(of: Bytes(clampedFrom: $0), in: envelope) }
    return curve
  }

  /// The time of the peak: at the highest step of the envelope, or after the last sample if that step is clearly lower
  /// and only the mark read at exit shows the peak.
  private func place(of peak: Bytes, in envelope: Envelope) -> MemoryCurve.Peak {
    let last = envelope.steps.last?.time ?? .zero
    guard let highest = envelope.highest(in: .zero...last),
      Double((peak - highest.peak).count) <= BinnedCurve.quietBand
    else { return MemoryCurve.Peak(height: peak, after: last, before: max(last, duration)) }
    // Resident memory in a sample has the sample's time.
    let isRead = highest.step.resident == highest.peak
    return MemoryCurve.Peak(
      height: peak, after: isRead ? highest.step.time : highest.step.after, before: highest.step.time
    )
  }
}

extension MemoryCurve {
  fileprivate mutating func add(_ instant: Instant, to list: WritableKeyPath<Self, [Instant]>) {
    if self[keyPath: list].count < Self.mostInstants { self[keyPath: list].append(instant) }
  }
}

extension MemoryCurve.Stretch {
  /// The line through the medians of a curve from one of its bins on; `slope` in bytes per second, if known.
  init?(of curve: BinnedCurve, from start: Int, slope: Double?, until end: Duration) {
    let (times, medians) = (Array(curve.times[start...]), Array(curve.medians[start...]))
    let slope = slope ?? Slope.theilSen(x: times, y: medians) ?? 0
    guard let base = Spread.median(zip(times, medians).map { $1 - slope * $0 }) else { return nil }
    let from = curve.beginning(of: start)
    func level(at time: Duration) -> Bytes { Bytes(clampedFrom: max(0, base + slope * time.inSeconds)) }
    self.init(from: from, to: max(from, end), first: level(at: from), last: level(at: max(from, end)))
  }
}
