package import GateCore
import Glibc

/// A POSIX thread for code that blocks in the kernel, which a Swift task must not do.
///
/// All signals are blocked in it, so that they reach the thread that waits for them.
package final class PosixThread: Sendable {
  private let thread: pthread_t

  /// Runs the body on a new thread; the kernel stores at most 15 bytes of the name.
  package init(named name: StaticString, running body: @escaping @Sendable () -> Void) throws(SystemFailure) {
    let created = Self.create(Unmanaged.passRetained(Body(name: name, run: body)))
    guard created.code == 0 else { throw SystemFailure(.thread, code: created.code) }
    thread = created.thread
  }

  /// Waits until the thread has ended; call it once, or ``detach()``.
  package func join() {
    pthread_join(thread, nil)
  }

  /// Lets the thread end without a ``join()``, after which its memory is freed.
  func detach() {
    pthread_detach(thread)
  }

  private static func create(_ body: Unmanaged<Body>) -> (thread: pthread_t, code: Int32) {
    var thread = pthread_t()
    let code = SignalMask.withAllBlocked { pthread_create(&thread, nil, runBody, body.toOpaque()) }
    if code != 0 { body.release() }
    return (thread, code)
  }

  fileprivate final class Body {
    let name: StaticString
    let run: @Sendable () -> Void

    init(name: StaticString, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }
}

private func runBody(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let pointer else { return nil }
  let body = Unmanaged<PosixThread.Body>.fromOpaque(pointer).takeRetainedValue()
  LinuxCalls.nameThread(body.name)
  body.run()
  return nil
}
