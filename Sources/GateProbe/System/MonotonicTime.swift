import GateCore
import Glibc

/// A time of the monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds since boot.
struct MonotonicTime: Sendable, Hashable, Comparable {
  let nanoseconds: Int64

  init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  static func now() -> MonotonicTime {
    MonotonicTime(nanoseconds: nanosecondsOf(CLOCK_MONOTONIC))
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

/// The time since 1970.
enum WallTime {
  static func nanoseconds() -> Int64 { nanosecondsOf(CLOCK_REALTIME) }
}

/// The CPU time of a thread.
enum ThreadTime {
  /// Of the calling thread, in nanoseconds.
  static func nanoseconds() -> Int64 {
    nanosecondsOf(CLOCK_THREAD_CPUTIME_ID)
  }

  /// What the work took of the calling thread, in nanoseconds.
  static func nanoseconds(of work: () -> Void) -> Int64 {
    let before = nanoseconds()
    work()
    return nanoseconds() - before
  }
}

private func nanosecondsOf(_ clock: clockid_t) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
