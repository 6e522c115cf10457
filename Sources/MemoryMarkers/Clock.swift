#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The system clocks, in nanoseconds.
enum Clock {
  /// Since boot, including suspended time.
  static func sinceBoot() -> UInt64 {
    #if os(Linux)
    read(CLOCK_BOOTTIME)
    #else
    read(CLOCK_MONOTONIC)
    #endif
  }

  /// Since boot, without suspended time.
  static func running() -> UInt64 { read(CLOCK_MONOTONIC) }

  /// Since 1970.
  static func wall() -> UInt64 { read(CLOCK_REALTIME) }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
