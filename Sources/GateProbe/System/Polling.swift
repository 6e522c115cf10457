import GateCore
import Glibc

extension MonotonicTime {
  static func after(_ time: Duration) -> MonotonicTime {
    now() + time
  }

  /// What is left of the time until this instant; zero once it has passed.
  var remaining: Duration {
    max(self - .now(), .zero)
  }

  var hasPassed: Bool {
    self <= .now()
  }
}

/// Waiting for several descriptors at once (poll(2)).
enum Polling {
  /// Waits until one of the descriptors can be read, or the time has come.
  static func wait(toRead readers: [Int32], toWrite writers: [Int32] = [], atMost time: Duration) {
    var list = readers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    list += writers.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
    wait(&list, atMost: time)
  }

  /// Fills `revents`; a signal ends the wait early with all of them empty.
  static func wait(_ list: inout [pollfd], atMost time: Duration?) {
    let milliseconds = time.map { Int32(clamping: ($0.nanoseconds + 999_999) / 1_000_000) } ?? -1
    if poll(&list, nfds_t(list.count), milliseconds) < 0 {
      for index in list.indices { list[index].revents = 0 }
    }
  }
}
