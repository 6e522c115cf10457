import Glibc
import LinuxSystem

/// Turns signals that request the end of a run into an interruption.
final class SignalWatch: Sendable {
  /// Signals within this time of the first one belong to the same request.
  ///
  /// timeout(1), sudo, make and shells pass a signal on to a process group that has received it already.
  private static let relayTime = Duration.milliseconds(500)

  private let interruption: Interruption

  private init(for interruption: Interruption) {
    self.interruption = interruption
  }

  /// Blocks the signals in every thread and waits for them in one thread; must be called before any other thread
  /// starts.
  ///
  /// A signal that was ignored at the start stays ignored, as nohup(1) and shells without job control want it. A second
  /// request ends the process at once; the supervisors then kill its targets.
  static func start(for interruption: Interruption) throws(ErrorNumber) {
    var set = watchedSet()
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let watch = Unmanaged.passRetained(SignalWatch(for: interruption))
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, waitForSignals, watch.toOpaque())
    guard code == 0 else {
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
      throw ErrorNumber(code)
    }
  }

  private static func watchedSet() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { sigaddset(&set, number) }
    return set
  }

  private static func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Waits for signals until the process ends.
  fileprivate func wait() -> Never {
    var set = Self.watchedSet()
    var requested: ContinuousClock.Instant?
    while true {
      var number: CInt = 0
      guard sigwait(&set, &number) == 0 else { continue }
      let now = ContinuousClock.now
      guard let first = requested else {
        requested = now
        interruption.request(by: number)
        continue
      }
      if now - first > Self.relayTime { _exit(number == SIGINT ? 130 : 143) }
    }
  }
}

private func waitForSignals(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<SignalWatch>.fromOpaque(context).takeRetainedValue().wait()
}
