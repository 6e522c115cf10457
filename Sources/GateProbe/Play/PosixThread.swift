import Glibc

/// A thread of our own: never a Swift task, since what runs here blocks in the kernel.
///
/// It gets no signals, so that they reach the thread that waits for them.
final class PosixThread: Sendable {
  private let thread: pthread_t

  init(running body: @escaping @Sendable () -> Void) throws(SystemError) {
    let created = Self.create(Unmanaged.passRetained(Body(run: body)))
    guard created.code == 0 else { throw SystemError(task: "start a thread", code: created.code) }
    thread = created.thread
  }

  /// Waits until the thread has ended; to be called once.
  func join() {
    pthread_join(thread, nil)
  }

  private static func create(_ body: Unmanaged<Body>) -> (thread: pthread_t, code: Int32) {
    var thread = pthread_t()
    let code = SignalMask.withoutAny { pthread_create(&thread, nil, runBody, body.toOpaque()) }
    if code != 0 { body.release() }
    return (thread, code)
  }

  fileprivate final class Body {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
      self.run = run
    }
  }
}

private func runBody(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let pointer else { return nil }
  Unmanaged<PosixThread.Body>.fromOpaque(pointer).takeRetainedValue().run()
  return nil
}
