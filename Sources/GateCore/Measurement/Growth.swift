import Statistics

/// The growth of memory in steady state, with its confidence interval and its kind.
package struct Growth: Sendable, Hashable, Codable {
  /// How the growth continues.
  package enum Kind: String, Sendable, CaseIterable, Codable {
    /// No growth that differs from noise, or too little to matter.
    case level
    /// Memory grows continuously, by an amount that matters.
    case continuous
    /// Growth slows down, as while a cache fills or at the end of a warm-up; a longer run would show where it ends.
    case settling
  }

  /// In bytes per iteration or second (Theil 1950, Sen 1968); the value of ``MetricName/growth``.
  package var slope: Double
  /// The bounds of the slope's 95 % interval, which contains the slope.
  package var low: Double
  package var high: Double
  package var kind: Kind
  /// The number of iterations that the slope is of; nil for growth per second, or if it is unknown.
  package var iterations: Int?
  /// From the first iteration to the highest of those that the slope is of, in bytes; nil as ``iterations``.
  package var rise: Double?

  package init(
    slope: Double,
    low: Double,
    high: Double,
    kind: Kind,
    iterations: Int? = nil,
    rise: Double? = nil
  ) {
    (self.slope, self.low, self.high, self.kind) = (slope, low, high, kind)
    (self.iterations, self.rise) = (iterations, rise)
  }
}

extension Growth {
  /// The growth of the steady part of a curve; nil for fewer than two points.
  ///
  /// `x` are ascending seconds or iteration numbers, and `y` bytes. If the interval is above zero, growth is settling
  /// if the last half grows less than two thirds as fast as the first. Otherwise it is continuous if the interval's low end
  /// amounts to more than max(1 MiB, 0.5 % of the median) over the whole part: a slope above zero alone is not a leak.
  init?(x: [Double], y: [Double]) {
    guard let whole = SlopeInterval(x: x, y: y), let level = Spread.median(y), let first = x.first, let last = x.last
    else { return nil }
    let matters = max(Self.leastLeak, Self.leastShare * abs(level))
    self.init(slope: whole.slope, low: whole.low, high: whole.high, kind: .level)
    guard whole.low > 0 else { return }
    if Self.isSettling(x, y) {
      kind = .settling
    } else if whole.low * (last - first) > matters {
      kind = .continuous
    }
  }

  /// The growth per iteration: the slope of the steady iterations, but if growth slows down, that of their later half.
  ///
  /// The first half may still be warm-up: the start of the steady state is found by bands of 256 KiB, and a program that
  /// fills its heap by less than that over 20 iterations seems to leak 10 KiB in each. Otherwise all iterations count: in
  /// half of them, a leak of 1 KiB from pieces of 132 KiB looks like one of 1.9 KiB. Nine tenths of the slopes of unchanged
  /// services were below 9.8 KiB (Node.js, 1,000 iterations) and 10.5 KiB (Go, 200) if the later half always counted, and
  /// below 1.0 and 3.2 KiB with this rule (2026-11).
  ///
  /// - Parameters:
  ///   - levels: The memory at the mark of each iteration.
  ///   - start: The first steady one.
  init?(of levels: [IterationLevel], from start: Int) {
    let kept = levels.dropFirst(start)
    guard let whole = Growth(x: kept.map(\.number), y: kept.map(\.level)) else { return nil }
    self = whole
    iterations = kept.count
    let highest = kept.map(\.level).max() ?? 0
    rise = highest - levels[0].level
    guard kind == .settling else { return }
    let later = kept.suffix(max(Self.fewestIterations, kept.count - kept.count / 2))
    guard let slope = SlopeInterval(x: later.map(\.number), y: later.map(\.level)) else { return nil }
    // Without growth in the later half, the warm-up is over.
    let kind = slope.low > 0 ? Kind.settling : .level
    self.init(slope: slope.slope, low: slope.low, high: slope.high, kind: kind, iterations: later.count, rise: rise)
  }

  /// A slope over fewer iterations is mostly noise of single pages.
  package static let fewestIterations = 10

  static let leastLeak = Double(Bytes.mebibytes(1).count)
  private static let leastShare = 0.005

  private static func isSettling(_ x: [Double], _ y: [Double]) -> Bool {
    let half = x.count / 2
    guard let earlier = Slope.theilSen(x: Array(x[..<half]), y: Array(y[..<half])),
      let later = Slope.theilSen(x: Array(x[half...]), y: Array(y[half...]))
    else { return true }
    return later < slowing * earlier
  }

  /// If the last half grows by less than this share of the first half's growth, it is settling.
  ///
  /// Both halves of a leak grow equally fast. A logarithmic fill is steady in its last two thirds, of which the last
  /// half grows 0.60 times as fast as the first: with a share of 1/2, all of 600 such fills were called leaks, and with
  /// this share none; all of 600 leaks of 2.4 MiB under noise of 300 KiB are still found (simulated, 2026-11). To
  /// require that the last half grows significantly would call 32 of 39 leaks of 12 MiB under a sawtooth of 30 MiB
  /// settling, instead of 4.
  private static let slowing = 2.0 / 3
}
