import GateCore

/// A time of the monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds since boot.
struct MonotonicTime: Sendable, Hashable, Comparable {
  let nanoseconds: Int64

  init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  static func now() -> MonotonicTime {
    MonotonicTime(nanoseconds: LinuxCalls.monotonicNanoseconds())
  }

  static func < (lhs: MonotonicTime, rhs: MonotonicTime) -> Bool {
    lhs.nanoseconds < rhs.nanoseconds
  }

  static func - (lhs: MonotonicTime, rhs: MonotonicTime) -> Duration {
    .nanoseconds(lhs.nanoseconds - rhs.nanoseconds)
  }

  static func + (lhs: MonotonicTime, rhs: Duration) -> MonotonicTime {
    MonotonicTime(nanoseconds: lhs.nanoseconds + rhs.nanoseconds)
  }
}
