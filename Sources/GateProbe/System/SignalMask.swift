import Glibc

/// Signals that the calling thread does not take for a while (pthread_sigmask(3)).
enum SignalMask {
  /// Runs `body` with all signals kept from this thread; a thread that it creates inherits that.
  static func withoutAny<Value>(_ body: () -> Value) -> Value {
    withSets { all, before, _ in
      sigfillset(all)
      pthread_sigmask(SIG_SETMASK, all, before)
      defer { pthread_sigmask(SIG_SETMASK, before, nil) }
      return body()
    }
  }

  /// Runs `body`, which writes to a pipe, and swallows the SIGPIPE that the kernel sends to a thread whose pipe has
  /// no readers (pipe(7)).
  ///
  /// The process's own disposition stays as it is: `highwater … | head` has to end quietly by the signal. One that
  /// waited before, for the whole process, is left alone.
  static func withoutPipeSignal<Value>(_ body: () -> Value) -> Value {
    withSets { only, before, pending in
      sigemptyset(only)
      sigaddset(only, SIGPIPE)
      sigpending(pending)
      let waited = sigismember(pending, SIGPIPE) == 1
      pthread_sigmask(SIG_BLOCK, only, before)
      let value = body()
      if !waited { while LinuxCalls.takePending(only) == SIGPIPE {} }
      pthread_sigmask(SIG_SETMASK, before, nil)
      return value
    }
  }

  /// Memory for three sets: the Glibc module does not show Swift how to make one.
  private static func withSets<Value>(
    _ body: (UnsafeMutablePointer<sigset_t>, UnsafeMutablePointer<sigset_t>, UnsafeMutablePointer<sigset_t>) -> Value
  ) -> Value {
    withUnsafeTemporaryAllocation(of: sigset_t.self, capacity: 3) { sets in
      guard let first = sets.baseAddress else { preconditionFailure("three sets are not nothing") }
      return body(first, first + 1, first + 2)
    }
  }
}
