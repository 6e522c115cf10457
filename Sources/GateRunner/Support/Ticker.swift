import GateCore
import GateProbe
import Glibc
import LinuxSystem

/// Calls a function again and again on a thread of its own, until it is released.
final class Ticker: Sendable {
  /// Closed at the end, which wakes the thread.
  private let end: Descriptor

  /// nil if the system has no descriptor or thread left.
  init?(every interval: Duration, _ tick: @escaping @Sendable () -> Void) {
    let milliseconds = CInt(clamping: interval.nanoseconds / 1_000_000)
    do {
      let (wake, own) = try Descriptor.pipe()
      end = own
      _ = try PosixThread(named: "hw-progress") {
        while Self.isTime(after: milliseconds, unless: wake) { tick() }
      }
    } catch {
      return nil
    }
  }

  /// Waits; false if the other end of the pipe was closed meanwhile.
  private static func isTime(after milliseconds: CInt, unless wake: Descriptor) -> Bool {
    var waiting = pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, milliseconds) <= 0
  }
}
