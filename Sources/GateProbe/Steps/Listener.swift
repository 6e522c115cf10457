import GateCore
import Glibc
import LinuxSystem
import Synchronization

/// The thread that reads whatever programs print and mark, so that none of them ever blocks on a full pipe.
final class Listener: Sendable {
  /// Something that the thread serves.
  enum Source: Sendable {
    /// Output, until its end.
    case reading(Descriptor, receive: @Sendable (ArraySlice<UInt8>) -> Void)
    /// A text to write, until it is written or the reader has closed; then the writer is closed.
    case writing(Descriptor, ArraySlice<UInt8>)
  }

  private struct State {
    var added: [Source] = []
    var catchUpsAsked = 0
    var catchUpsDone = 0
    var isStopping = false
  }

  private let state = Mutex(State())
  private let orders: Wakeup
  private let caughtUp: Wakeup
  private let thread: Mutex<PosixThread?>

  init() throws(SystemFailure) {
    orders = try Wakeup()
    caughtUp = try Wakeup()
    thread = Mutex(nil)
  }

  /// Starts the thread; it holds the listener until ``stop()``.
  func start() throws(SystemFailure) {
    let started = try PosixThread(named: "hw-listener") { self.run() }
    thread.withLock { $0 = started }
  }

  func add(_ source: Source) {
    state.withLock { $0.added.append(source) }
    orders.raise()
  }

  /// Returns once all that was written before the call has been received; gives up after 2 s.
  func catchUp() {
    let number = state.withLock { state in
      state.catchUpsAsked += 1
      return state.catchUpsAsked
    }
    orders.raise()
    let deadline = MonotonicTime.after(.seconds(2))
    while state.withLock({ $0.catchUpsDone }) < number, !deadline.hasPassed {
      Polling.wait(toRead: [caughtUp.descriptor], atMost: deadline.remaining)
      caughtUp.lower()
    }
  }

  /// Ends the thread and closes what it served.
  func stop() {
    state.withLock { $0.isStopping = true }
    orders.raise()
    let running = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    running?.join()
  }
}

// MARK: - The thread

extension Listener {
  /// More rounds of 64 KiB than a pipe holds (at most 1 MiB unprivileged, pipe(7)): then what had been written
  /// before a catch-up is in.
  private static let catchUpRounds = 32

  private func run() {
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
      var sources: [Source] = []
      while takeOrders(into: &sources) {
        _ = serve(&sources, atMost: nil, buffer)
        catchUpIfAsked(&sources, buffer)
      }
    }
  }

  /// - Returns: false when the thread is to end.
  private func takeOrders(into sources: inout [Source]) -> Bool {
    orders.lower()
    return state.withLock { state in
      sources += state.added
      state.added = []
      return !state.isStopping
    }
  }

  private func catchUpIfAsked(_ sources: inout [Source], _ buffer: UnsafeMutableRawBufferPointer) {
    let asked = state.withLock { $0.catchUpsAsked > $0.catchUpsDone ? $0.catchUpsAsked : nil }
    guard let asked else { return }
    _ = takeOrders(into: &sources)
    for _ in 0..<Self.catchUpRounds where !serve(&sources, atMost: .zero, buffer) { break }
    state.withLock { $0.catchUpsDone = asked }
    caughtUp.raise()
  }

  /// Waits for the sources and serves each that is ready once.
  ///
  /// - Returns: whether one of them was ready to be read.
  private func serve(
    _ sources: inout [Source],
    atMost time: Duration?,
    _ buffer: UnsafeMutableRawBufferPointer
  ) -> Bool {
    var list = sources.map(\.interest) + [pollfd(fd: orders.descriptor, events: Int16(POLLIN), revents: 0)]
    Polling.wait(&list, atMost: time)
    var wasReady = false
    for index in sources.indices.reversed() where list[index].revents != 0 {
      if case .reading = sources[index] { wasReady = true }
      if let next = sources[index].served(with: buffer) {
        sources[index] = next
      } else {
        sources.remove(at: index)
      }
    }
    return wasReady
  }
}

extension Listener.Source {
  fileprivate var interest: pollfd {
    switch self {
    case .reading(let reader, _): pollfd(fd: reader.number, events: Int16(POLLIN), revents: 0)
    case .writing(let writer, _): pollfd(fd: writer.number, events: Int16(POLLOUT), revents: 0)
    }
  }

  /// Reads or writes once; nil when the source is done with.
  fileprivate func served(with buffer: UnsafeMutableRawBufferPointer) -> Self? {
    switch self {
    case .reading(let reader, let receive):
      switch reader.read(into: buffer) {
      case .bytes(let count): receive(Array(buffer.prefix(count))[...])
      case .nothingYet: break
      case .end: return nil
      }
      return self
    case .writing(let writer, let rest):
      switch writer.write(rest.prefix(65_536)) {
      case .bytes(let count): return count == rest.count ? nil : .writing(writer, rest.dropFirst(count))
      case .full: return self
      case .failed: return nil
      }
    }
  }
}
