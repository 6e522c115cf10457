import GateCore

/// When a sampler's next readings are due.
struct SamplerClock {
  /// The shortest time between two readings.
  private static let shortest: Int64 = 1_000_000
  /// A reading is repeated after 50 times what it took of the CPU, so that sampling costs 2 % of one at most.
  private static let restPerCost: Int64 = 50

  private let interval: Int64
  private var target: Int64 = 0
  private var noise: UInt64
  private(set) var nextSearch: Int64 = 0
  private(set) var nextComposition: Int64 = 200_000_000

  init(interval: Duration, seed: UInt64) {
    self.interval = max(Self.shortest, interval.nanoseconds)
    noise = seed | 1
  }

  /// The instant of the next sweep, with times since exec in nanoseconds.
  ///
  /// A hundredth of the target's age, from 1 ms up to the interval: so a short program gets about as many samples as a
  /// long one. It counts from where this sweep should have been, so that delays do not add up, and is up to a tenth
  /// off in either direction, so that it does not fall into step with what the target does regularly.
  mutating func nextSweep(after now: Int64, cost: Int64) -> Int64 {
    let wanted = min(max(now / 100, Self.shortest), interval)
    let delay = max(wanted, cost * Self.restPerCost)
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

  /// Each 5 ms while the target is young, when most programs start their children, and each 100 ms later.
  mutating func searched(at now: Int64, cost: Int64, isSearching: Bool) {
    let rest: Int64 = now < 100_000_000 ? 5_000_000 : isSearching ? 20_000_000 : 100_000_000
    nextSearch = now + max(rest, cost * Self.restPerCost)
  }

  /// At most a hundredth of the time, since a reading of the mappings holds up the target's own mmap and page faults.
  mutating func composed(at now: Int64, took: Int64) {
    nextComposition = now + max(1_000_000_000, took * 100)
  }
}
