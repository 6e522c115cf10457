import GateProbe
import LinuxSystem
import Synchronization

/// Calls a function again and again on a thread of its own, until it is stopped or released.
final class Ticker: Sendable {
  /// The thread, and what wakes it for its end; nil once it was stopped.
  private let running: Mutex<(end: Wakeup, thread: PosixThread)?>

  /// nil if the system has no descriptor or thread left.
  init?(every interval: Duration, _ tick: @escaping @Sendable () -> Void) {
    do {
      let end = try Wakeup()
      let thread = try PosixThread(named: "hw-progress") {
        while !end.isRaised(within: interval) { tick() }
      }
      running = Mutex((end, thread))
    } catch {
      return nil
    }
  }

  /// Ends the thread, and waits for a call that has begun; the caller must not hold a lock that the function takes.
  func stop() {
    end()?.join()
  }

  /// Without a ``stop()`` the thread ends by itself: the last reference may be the thread's own.
  deinit {
    end()?.detach()
  }

  /// Wakes the thread for its end.
  private func end() -> PosixThread? {
    let last = running.withLock { state in
      defer { state = nil }
      return state
    }
    last?.end.raise()
    return last?.thread
  }
}
