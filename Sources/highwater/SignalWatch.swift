import Glibc
import LinuxSystem

/// Turns signals that request the end of a run into an interruption.
enum SignalWatch {
  fileprivate static func watchedSet() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, number) }
    return set
  }

  /// Blocks the signals in every thread and waits for them in one thread; must be called before any other thread
  /// starts.
  ///
  /// A second signal ends the process at once; the supervisors then kill its targets.
  static func start(for interruption: Interruption) {
    signal(SIGPIPE, SIG_IGN)
    var set = watchedSet()
    pthread_sigmask(SIG_BLOCK, &set, nil)
    var thread = pthread_t()
    pthread_create(&thread, nil, waitForSignals, Unmanaged.passRetained(interruption).toOpaque())
  }
}

/// The waiting thread; it ends with the process.
private func waitForSignals(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  let interruption = Unmanaged<Interruption>.fromOpaque(context).takeRetainedValue()
  var set = SignalWatch.watchedSet()
  while true {
    var number: CInt = 0
    guard sigwait(&set, &number) == 0 else { continue }
    guard interruption.signal == nil else { _exit(number == SIGINT ? 130 : 143) }
    interruption.request(by: number)
  }
}
