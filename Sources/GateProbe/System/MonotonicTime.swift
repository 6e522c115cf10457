import GateCore

/// An instant of the clock that never goes back (`CLOCK_MONOTONIC`), in nanoseconds since the machine's start.
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
