import Glibc

/// A POSIX thread for code that blocks in the kernel, which a Swift task must not do.
///
/// All signals but those of faults are blocked in it, so that they reach the thread that waits for them. Unlike libdispatch, which tries again
/// for ever, it reports that no thread can be created.
package final class PosixThread: Sendable {
  /// The usual limit of Linux, whatever the process's own (`RLIMIT_STACK`) is; only the pages in use take memory.
  private static let stackSize = 8 << 20

  private let thread: pthread_t

  /// Runs the body on a new thread; the kernel stores at most 15 bytes of the name.
  package init(named name: String, running body: @escaping @Sendable () -> Void) throws(ErrorNumber) {
    let created = Self.create(Unmanaged.passRetained(Body(name: name, run: body)))
    guard created.code == 0 else { throw ErrorNumber(created.code) }
    thread = created.thread
  }

  /// Waits until the thread has ended; call it once, or ``detach()``.
  package func join() {
    pthread_join(thread, nil)
  }

  /// Lets the thread end without a ``join()``, after which its memory is freed.
  package func detach() {
    pthread_detach(thread)
  }

  private static func create(_ body: Unmanaged<Body>) -> (thread: pthread_t, code: Int32) {
    var (thread, attributes) = (pthread_t(), pthread_attr_t())
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackSize)
    var (all, before) = (sigset_t(), sigset_t())
    sigfillset(&all)
    for fault in [SIGBUS, SIGILL, SIGSEGV, SIGTRAP] { sigdelset(&all, fault) }
    pthread_sigmask(SIG_SETMASK, &all, &before)
    let code = pthread_create(&thread, &attributes, runBody, body.toOpaque())
    pthread_sigmask(SIG_SETMASK, &before, nil)
    if code != 0 { body.release() }
    return (thread, code)
  }

  fileprivate final class Body {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }
}

private func runBody(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let pointer else { return nil }
  let body = Unmanaged<PosixThread.Body>.fromOpaque(pointer).takeRetainedValue()
  // Glibc does not give Swift pthread_setname_np(3), which does the same (proc_pid_comm(5)).
  try? Descriptor.open("/proc/thread-self/comm", O_WRONLY).writeAll(Array(body.name.utf8))
  body.run()
  return nil
}
