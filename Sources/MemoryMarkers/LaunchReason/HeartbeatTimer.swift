import Dispatch
import Synchronization

/// Does something each second, until it is stopped or let go of.
final class HeartbeatTimer: Sendable {
  private struct Source: @unchecked Sendable {
    // Sendable, since a dispatch source may be used from any thread (dispatch_source_create(3)).
    let timer: any DispatchSourceTimer
  }

  private let source = Mutex<Source?>(nil)

  func start(_ beat: @escaping @Sendable () -> Void) {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1), leeway: .milliseconds(100))
    timer.setEventHandler(handler: beat)
    timer.activate()
    let started = Source(timer: timer)
    source.withLock { $0 = started }
  }

  func stop() {
    source.withLock { source in
      // A forked child has none of the threads that a timer needs, and must not touch it.
      if !Room.hasForked { source?.timer.cancel() }
      source = nil
    }
  }
}
