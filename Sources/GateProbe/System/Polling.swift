import GateCore
import Glibc

extension MonotonicTime {
  static func after(_ time: Duration) -> MonotonicTime {
    now() + time
  }

  /// The time until this instant; zero once it has passed.
  var remaining: Duration {
    max(self - .now(), .zero)
  }

  var hasPassed: Bool {
    self <= .now()
  }
}

/// Waits for several descriptors at once (poll(2)).
enum Polling {
  /// Waits until one of the descriptors is ready, or the time is over.
  static func wait(toRead readers: [Int32], toWrite writers: [Int32] = [], atMost time: Duration) {
    var list = readers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    list += writers.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
    wait(&list, atMost: time)
  }

  /// Sets `revents`; a signal ends the wait early, and clears them all.
  static func wait(_ list: inout [pollfd], atMost time: Duration?) {
    let milliseconds = time.map { Int32(clamping: ($0.nanoseconds + 999_999) / 1_000_000) } ?? -1
    if poll(&list, nfds_t(list.count), milliseconds) < 0 {
      for index in list.indices { list[index].revents = 0 }
    }
  }
}
