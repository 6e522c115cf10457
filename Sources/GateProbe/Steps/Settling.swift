import GateCore

/// The rule by which a `settle` step decides that resident memory is steady.
///
/// The window of the latest samples is divided into 10 equal segments of time. Memory is steady if the medians of the
/// segments lie within a band of 1 % of their own median, or 256 KiB, whichever is larger: the band of the back-scan
/// that finds the steady state of a whole repetition. A sawtooth shorter than a segment, as from a garbage collector,
/// does not matter.
struct Settling: Equatable {
  /// The window: 1 s, or as long as 20 samples take.
  static let shortestWindow = Duration.seconds(1)
  static let minSamples = 20
  /// More than a window can contain: samples are at least 1 ms apart, 0.1 ms in the first 10 ms.
  static let maxSamples = 4096
  private static let segmentCount = 10

  let window: ClosedRange<Duration>
  /// The range of the medians.
  let moved: Bytes
  /// The permitted range.
  let band: Bytes

  var isSteady: Bool { moved <= band }

  /// Evaluates samples in order of time; nil if those since `start` are too few, or cover less than the window.
  init?(of samples: [Sample], since start: Duration) {
    let known = samples.compactMap { sample in
      sample.main.flatMap { sample.time >= start ? (time: sample.time, resident: $0.resident) : nil }
    }
    guard let last = known.last, known.count >= Self.minSamples else { return nil }
    let twentieth = known[known.count - Self.minSamples].time
    let from = min(last.time - Self.shortestWindow, twentieth)
    guard from >= start, let first = known.first(where: { $0.time >= from }) else { return nil }
    let length = max((last.time - first.time).nanoseconds, 1)
    var segments = [[Int64]](repeating: [], count: Self.segmentCount)
    for sample in known where sample.time >= from {
      let index = (sample.time - first.time).nanoseconds * Int64(Self.segmentCount) / (length + 1)
      segments[Int(index)].append(sample.resident.count)
    }
    let medians = segments.compactMap(Self.median)
    guard let low = medians.min(), let high = medians.max(), let middle = Self.median(medians) else { return nil }
    window = first.time...last.time
    moved = Bytes(high - low)
    band = Bytes(clampedFrom: BinnedCurve.band(around: Double(middle)))
  }

  /// The middle value, the upper one of two.
  private static func median(_ values: [Int64]) -> Int64? {
    values.isEmpty ? nil : values.sorted()[values.count / 2]
  }
}
