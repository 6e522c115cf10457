#if LaunchReason

import Glibc

/// Does something each second on a thread of its own, until it is stopped.
///
/// It gets no signals: they are for the host's threads.
final class HeartbeatThread: Sendable {
  /// Shared with the thread, which may outlive its owner by a second.
  fileprivate final class Body: Sendable {
    let isStopped = SharedWord()
    let beat: @Sendable () -> Void

    init(_ beat: @escaping @Sendable () -> Void) {
      self.beat = beat
    }
  }

  private let lock = Lock()
  /// Used under the lock only.
  private nonisolated(unsafe) var body: Body?

  /// Begins to beat; where no thread can be had, it stays silent.
  func start(_ beat: @escaping @Sendable () -> Void) {
    let started = Body(beat)
    lock.locked { body = started }
    let retained = Unmanaged.passRetained(started)
    if Self.createThread(retained.toOpaque()) != 0 { retained.release() }
  }

  func stop() {
    lock.locked { body?.isStopped.value = 1 }
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
