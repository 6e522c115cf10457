import Glibc

/// A thread that is no task: it may block, and it wakes at exact instants whatever the executor does.
enum OwnThread {
  /// What a new thread starts with.
  private final class Start {
    let name: StaticString
    let body: @Sendable () -> Void

    init(name: StaticString, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Runs the body on a thread of its own, to be joined by pthread_join(3); nil where none can be made.
  static func start(named name: StaticString, _ body: @escaping @Sendable () -> Void) -> pthread_t? {
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, run, start.toOpaque())
    guard code == 0 else {
      start.release()
      return nil
    }
    return thread
  }

  private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    guard let context else { return nil }
    let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
    LinuxCalls.nameThread(start.name)
    start.body()
    return nil
  }
}
