import GateCore
import Glibc

/// Turns the signals that ask a run to end into an interruption.
enum SignalWatch {
  private static let watched: [CInt] = [SIGINT, SIGTERM, SIGHUP]

  /// Blocks the signals in every thread and hands them to a thread of its own; called before any other thread starts.
  ///
  /// A second signal ends the process at once: what it started is killed by its shepherds then.
  static func start(for interruption: Interruption) {
    signal(SIGPIPE, SIG_IGN)
    var set = sigset_t()
    sigemptyset(&set)
    for number in watched { sigaddset(&set, number) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let context = Unmanaged.passRetained(interruption)
    var thread = pthread_t()
    pthread_create(&thread, nil, { wait(for: Unmanaged<Interruption>.fromOpaque($0!).takeRetainedValue()) }, context.toOpaque())
  }

  private static func wait(for interruption: Interruption) -> UnsafeMutableRawPointer? {
    var set = sigset_t()
    sigemptyset(&set)
    for number in watched { sigaddset(&set, number) }
    while true {
      var number: CInt = 0
      guard sigwait(&set, &number) == 0 else { continue }
      guard interruption.signal == nil else { _exit(number == SIGINT ? 130 : 143) }
      interruption.request(by: number == SIGINT ? .int : Signal(number: number))
    }
  }
}
