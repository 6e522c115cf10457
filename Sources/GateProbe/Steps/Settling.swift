import GateCore

/// The rule by which a `settle` step calls resident memory steady.
///
/// The latest samples are cut into 10 equal stretches of time. Memory is steady where the medians of the stretches
/// lie within a band of 1 % of their own median, or 256 KiB, whichever is larger: the band of the back-scan that
/// finds the steady state of a whole repetition. A sawtooth narrower than a stretch, as of a garbage collector, does
/// not hinder it.
struct Settling: Equatable {
  /// The window: 1 s, or as long as 20 samples take.
  static let window = Duration.seconds(1)
  static let fewestSamples = 20
  /// More than a window holds at the densest: 1 ms apart, and 0.1 ms for the first 10 ms.
  static let mostSamples = 4096
  private static let stretches = 10

  /// How far the medians lie apart.
  let moved: Bytes
  /// How far they may.
  let band: Bytes

  var isSteady: Bool { moved <= band }

  /// Looks at samples in the order of time; nil while those since `start` are too few, or cover less than the window.
  init?(of samples: [Sample], since start: Duration) {
    let known = samples.compactMap { sample in
      sample.main.flatMap { sample.time >= start ? (time: sample.time, resident: $0.resident) : nil }
    }
    guard let last = known.last, known.count >= Self.fewestSamples else { return nil }
    let twentieth = known[known.count - Self.fewestSamples].time
    let from = min(last.time - Self.window, twentieth)
    guard from >= start, let first = known.first(where: { $0.time >= from }) else { return nil }
    let length = max((last.time - first.time).nanoseconds, 1)
    var stretches = [[Int64]](repeating: [], count: Self.stretches)
    for sample in known where sample.time >= from {
      let index = (sample.time - first.time).nanoseconds * Int64(Self.stretches) / (length + 1)
      stretches[Int(index)].append(sample.resident.count)
    }
    let medians = stretches.compactMap(Self.median)
    guard let low = medians.min(), let high = medians.max(), let middle = Self.median(medians) else { return nil }
    moved = Bytes(high - low)
    band = max(Bytes(middle / 100), .kibibytes(256))
  }

  /// The middle value, the upper one of two.
  private static func median(_ values: [Int64]) -> Int64? {
    values.isEmpty ? nil : values.sorted()[values.count / 2]
  }
}
