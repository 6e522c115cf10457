import Glibc

/// Runs a function on a new thread and waits for its end.
func onAnotherThread(_ body: () -> Void) {
  withoutActuallyEscaping(body) { body in
    let work = Unmanaged.passRetained(Holder(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread,
      nil,
      { argument in
        if let argument {
          Unmanaged<Holder<() -> Void>>.fromOpaque(argument).takeUnretainedValue().content()
        }
        return nil
      },
      work.toOpaque()
    )
    precondition(code == 0, "a thread can be created")
    pthread_join(thread, nil)
    work.release()
  }
}
