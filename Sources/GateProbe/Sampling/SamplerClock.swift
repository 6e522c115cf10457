import GateCore

/// Schedules a sampler's readings.
struct SamplerClock {
  /// How often readings may be made.
  private struct Pace {
    /// The shortest time between two readings, in nanoseconds.
    let shortest: Int64
    /// The pause after a reading, as a multiple of the CPU time that it and its wake-up took.
    let pausePerCost: Int64

    /// While a program is loaded: many programs exit before that ends.
    static let loading = Pace(shortest: 100_000, pausePerCost: 5)
    /// While the interval grows, and for requested intervals below 10 ms: at most 5 % of a CPU.
    static let growing = Pace(shortest: 1_000_000, pausePerCost: 20)
    /// At most 0.5 % of a CPU for readings, and as much for searches, which are rare while a tracer reports processes.
    ///
    /// At 10 ms a reading may take 50 µs, mostly for the wake-up if the machine sleeps in between.
    static let running = Pace(shortest: 1_000_000, pausePerCost: 200)

    static func at(_ age: Int64, interval: Int64) -> Pace {
      if age < 10_000_000 { return loading }
      return min(age / 100, interval) < 10_000_000 ? growing : running
    }
  }

  private let interval: Int64
  private var target: Int64 = 0
  private var randomState: UInt64
  private var lastSearch: (time: Int64, cost: Int64)?
  private(set) var nextComposition: Int64 = 200_000_000

  init(interval: Duration, seed: UInt64) {
    self.interval = max(Pace.running.shortest, interval.nanoseconds)
    randomState = seed | 1
  }

  /// The time of the next sweep; times are nanoseconds since exec.
  ///
  /// The delay is a hundredth of the target's age, from 1 ms up to the interval, so that a short program gets about as
  /// many samples as a long one; in the first 10 ms it is 0.1 ms. It counts from the scheduled time of this sweep, so
  /// that delays do not add up, with a jitter of up to a tenth, so that it does not lock onto periodic work of the
  /// target.
  mutating func nextSweep(after now: Int64, cost: Int64) -> Int64 {
    let pace = Pace.at(now, interval: interval)
    let wanted = min(max(now / 100, pace.shortest), interval)
    let delay = max(wanted, cost * pace.pausePerCost)
    target = max(target + delay + jitter(of: delay), now)
    return target
  }

  /// A random value from -1/10 to +1/10 of the span (xorshift64, Marsaglia 2003).
  private mutating func jitter(of span: Int64) -> Int64 {
    randomState ^= randomState << 13
    randomState ^= randomState >> 7
    randomState ^= randomState << 17
    return span / 10 * (Int64(randomState % 2001) - 1000) / 1000
  }

  /// Whether to search now: every 5 ms at first, when most programs start their children, and every 100 ms later; every
  /// second while a tracer reports new processes.
  func isSearchDue(at now: Int64, isSearching: Bool, isReported: Bool) -> Bool {
    guard let lastSearch else { return true }
    let isEarly = lastSearch.time < 100_000_000
    let pause: Int64 =
      isSearching
      ? (isEarly ? 5_000_000 : 20_000_000)
      : isReported ? 1_000_000_000 : (isEarly ? 5_000_000 : 100_000_000)
    return now >= lastSearch.time + max(pause, lastSearch.cost * Pace.running.pausePerCost)
  }

  mutating func didSearch(at now: Int64, cost: Int64) {
    lastSearch = (now, cost)
  }

  /// Schedules the next reading of the mappings: at most 1 % of the time, since it blocks the target's mmap and faults.
  mutating func didReadComposition(at now: Int64, took: Int64) {
    nextComposition = now + max(1_000_000_000, took * 100)
  }
}
