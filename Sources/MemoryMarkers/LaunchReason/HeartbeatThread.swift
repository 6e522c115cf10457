#if LaunchReason && os(Linux)

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Calls a function each second on a thread of its own, until it is stopped.
///
/// The thread blocks all signals, which are for the program's threads.
final class HeartbeatThread: Sendable {
  /// Shared with the thread, which may outlive the owner by a second.
  fileprivate final class Body: Sendable {
    let isStopped = AtomicWord()
    let beat: @Sendable () -> Void

    init(_ beat: @escaping @Sendable () -> Void) {
      self.beat = beat
    }
  }

  private let lock = Lock()
  /// Protected by the lock.
  private nonisolated(unsafe) var body: Body?

  /// Starts the thread; does nothing if no thread can be created.
  func start(_ beat: @escaping @Sendable () -> Void) {
    let started = Body(beat)
    lock.withLock { body = started }
    let retained = Unmanaged.passRetained(started)
    if Self.createThread(retained.toOpaque()) != 0 { retained.release() }
  }

  func stop() {
    lock.withLock { body?.isStopped.value = 1 }
  }

  private static func createThread(_ body: UnsafeMutableRawPointer) -> CInt {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, runHeartbeat, body)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    if code == 0 { pthread_detach(thread) }
    return code
  }
}

private func runHeartbeat(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let pointer else { return nil }
  let body = Unmanaged<HeartbeatThread.Body>.fromOpaque(pointer).takeRetainedValue()
  while true {
    var second = timespec(tv_sec: 1, tv_nsec: 0)
    nanosleep(&second, nil)
    if body.isStopped.value != 0 { return nil }
    body.beat()
  }
}

#endif
