import Glibc

/// Blocks signals temporarily in the calling thread (pthread_sigmask(3)).
enum SignalMask {
  /// Runs `body`, which writes to a pipe, and discards the SIGPIPE that the thread gets if the pipe has no readers
  /// (pipe(7)).
  ///
  /// Does not change the process's disposition: `highwater … | head` has to end quietly by the signal. A SIGPIPE that
  /// was already pending for the process stays pending.
  static func withoutPipeSignal<Value>(_ body: () -> Value) -> Value {
    withSets { only, before, pending in
      sigemptyset(only)
      sigaddset(only, SIGPIPE)
      sigpending(pending)
      let wasPending = sigismember(pending, SIGPIPE) == 1
      pthread_sigmask(SIG_BLOCK, only, before)
      let value = body()
      if !wasPending { while LinuxCalls.takePending(only) == SIGPIPE {} }
      pthread_sigmask(SIG_SETMASK, before, nil)
      return value
    }
  }

  /// Allocates three sets; the Glibc module offers Swift no initializer of `sigset_t`.
  private static func withSets<Value>(
    _ body: (UnsafeMutablePointer<sigset_t>, UnsafeMutablePointer<sigset_t>, UnsafeMutablePointer<sigset_t>) -> Value
  ) -> Value {
    withUnsafeTemporaryAllocation(of: sigset_t.self, capacity: 3) { sets in
      guard let first = sets.baseAddress else { preconditionFailure("three sets are not nothing") }
      return body(first, first + 1, first + 2)
    }
  }
}
