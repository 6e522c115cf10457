import GateCore

/// When a sampler's next readings are due.
struct SamplerClock {
  /// How often readings may be made.
  private struct Pace {
    /// The shortest time between two readings, in nanoseconds.
    let shortest: Int64
    /// A reading is repeated after this many times what it and the wake-up for it took of the CPU.
    let restPerCost: Int64

    /// While a program is loaded: for many it is all their life, and what is missed then is missed for good.
    static let loading = Pace(shortest: 100_000, restPerCost: 5)
    /// While the interval grows, and where one below 10 ms was asked for: 5 % of a CPU at most.
    static let growing = Pace(shortest: 1_000_000, restPerCost: 20)
    /// 0.8 % of a CPU at most, so that with searches and mappings it is less than 1 %.
    ///
    /// At 10 ms a reading may take 80 µs, of which the wake-up is the larger part where the machine sleeps meanwhile.
    static let running = Pace(shortest: 1_000_000, restPerCost: 125)

    static func at(_ age: Int64, interval: Int64) -> Pace {
      if age < 10_000_000 { return loading }
      return min(age / 100, interval) < 10_000_000 ? growing : running
    }
  }

  private let interval: Int64
  private var target: Int64 = 0
  private var noise: UInt64
  private(set) var nextSearch: Int64 = 0
  private(set) var nextComposition: Int64 = 200_000_000

  init(interval: Duration, seed: UInt64) {
    self.interval = max(Pace.running.shortest, interval.nanoseconds)
    noise = seed | 1
  }

  /// The instant of the next sweep, with times since exec in nanoseconds.
  ///
  /// A hundredth of the target's age, from 1 ms up to the interval: so a short program gets about as many samples as a
  /// long one; and each 0.1 ms in its first 10 ms. It counts from where this sweep should have been, so that delays do not add up, and is up to a tenth
  /// off in either direction, so that it does not fall into step with what the target does regularly.
  mutating func nextSweep(after now: Int64, cost: Int64) -> Int64 {
    let pace = Pace.at(now, interval: interval)
    let wanted = min(max(now / 100, pace.shortest), interval)
    let delay = max(wanted, cost * pace.restPerCost)
    target = max(target + delay + jitter(of: delay), now)
    return target
  }

  /// From -1/10 to +1/10 of the span (xorshift64, Marsaglia 2003).
  private mutating func jitter(of span: Int64) -> Int64 {
    noise ^= noise << 13
    noise ^= noise >> 7
    noise ^= noise << 17
    return span / 10 * (Int64(noise % 2001) - 1000) / 1000
  }

  /// Each 5 ms while the target is young, when most programs start their children, and each 100 ms later; each second
  /// where a tracer reports new processes.
  mutating func searched(at now: Int64, cost: Int64, isSearching: Bool, isReported: Bool) {
    let rest: Int64 =
      isSearching
      ? (now < 100_000_000 ? 5_000_000 : 20_000_000)
      : isReported ? 1_000_000_000 : (now < 100_000_000 ? 5_000_000 : 100_000_000)
    nextSearch = now + max(rest, cost * Pace.running.restPerCost)
  }

  /// At most a hundredth of the time, since a reading of the mappings holds up the target's own mmap and page faults.
  mutating func composed(at now: Int64, took: Int64) {
    nextComposition = now + max(1_000_000_000, took * 100)
  }
}
