import GateCore
import Glibc
import LinuxSystem
import Synchronization

/// The thread that reads the output and marks of programs, so that none of them blocks on a full pipe.
final class Listener: Sendable {
  /// A descriptor that the thread serves.
  enum Source: Sendable {
    /// Reads until end of file.
    case reading(Descriptor, receive: @Sendable (ArraySlice<UInt8>) -> Void)
    /// Reads as well, but takes the bytes out of the pipe only when they have been handled: a writer may wait for that.
    case acknowledging(Descriptor, copy: Descriptor.Pair, receive: @Sendable (ArraySlice<UInt8>) -> Void)
    /// Writes the text, and closes the descriptor after the last byte or if no reader is left.
    case writing(Descriptor, ArraySlice<UInt8>)
  }

  private struct State {
    var added: [Source] = []
    var catchUpsRequested = 0
    var catchUpsDone = 0
    var isStopping = false
  }

  private let state = Mutex(State())
  private let requested: Wakeup
  private let caughtUp: Wakeup
  private let thread: Mutex<PosixThread?>

  init() throws(SystemFailure) {
    requested = try Wakeup()
    caughtUp = try Wakeup()
    thread = Mutex(nil)
  }

  /// Starts the thread, which retains the listener until ``stop()``.
  func start() throws(SystemFailure) {
    let started = try SystemFailure.of(.thread) { () throws(ErrorNumber) in
      try PosixThread(named: "hw-listener") { self.run() }
    }
    thread.withLock { $0 = started }
  }

  func add(_ source: Source) {
    state.withLock { $0.added.append(source) }
    requested.raise()
  }

  /// Waits until all data written before the call has been received; gives up after 2 s.
  ///
  /// - Returns: Whether it has been received.
  @discardableResult
  func catchUp() -> Bool {
    let number = state.withLock { state in
      state.catchUpsRequested += 1
      return state.catchUpsRequested
    }
    requested.raise()
    let deadline = MonotonicTime.after(.seconds(2))
    while state.withLock({ $0.catchUpsDone }) < number {
      if deadline.hasPassed { return false }
      Polling.wait(toRead: [caughtUp.descriptor], atMost: deadline.remaining)
      caughtUp.lower()
    }
    return true
  }

  /// Stops the thread, and closes its sources.
  func stop() {
    state.withLock { $0.isStopping = true }
    requested.raise()
    let running = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    running?.join()
  }
}

// MARK: - The thread

extension Listener {
  /// More rounds of 64 KiB than a pipe can hold (at most 1 MiB unprivileged, pipe(7)), so that a catch-up reads all
  /// data that was written before it.
  private static let catchUpRounds = 32

  private func run() {
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
      var sources: [Source] = []
      while let request = nextRequest(addingTo: &sources) {
        switch request {
        case .serve: _ = serve(&sources, atMost: nil, buffer)
        case .catchUp(let number): catchUp(&sources, number, buffer)
        }
      }
    }
  }

  private enum Request {
    case serve
    case catchUp(number: Int)
  }

  /// What to do next; nil if the thread should end.
  ///
  /// What is requested after the flag has been lowered raises it again, so that ``serve(_:atMost:_:)`` does not wait.
  private func nextRequest(addingTo sources: inout [Source]) -> Request? {
    requested.lower()
    return state.withLock { state in
      sources += state.added
      state.added = []
      if state.isStopping { return nil }
      return state.catchUpsRequested > state.catchUpsDone ? .catchUp(number: state.catchUpsRequested) : .serve
    }
  }

  private func catchUp(_ sources: inout [Source], _ number: Int, _ buffer: UnsafeMutableRawBufferPointer) {
    for _ in 0..<Self.catchUpRounds where !serve(&sources, atMost: .zero, buffer) { break }
    state.withLock { $0.catchUpsDone = number }
    caughtUp.raise()
  }

  /// Waits for the sources, and serves each ready one once.
  ///
  /// - Returns: Whether one of them was readable.
  private func serve(
    _ sources: inout [Source],
    atMost time: Duration?,
    _ buffer: UnsafeMutableRawBufferPointer
  ) -> Bool {
    var list = sources.map(\.interest) + [pollfd(fd: requested.descriptor, events: Int16(POLLIN), revents: 0)]
    Polling.wait(&list, atMost: time)
    var wasReady = false
    for index in sources.indices.reversed() where list[index].revents != 0 {
      if !sources[index].isWriting { wasReady = true }
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
  fileprivate var isWriting: Bool {
    if case .writing = self { true } else { false }
  }

  fileprivate var interest: pollfd {
    switch self {
    case .reading(let reader, _), .acknowledging(let reader, _, _):
      pollfd(fd: reader.number, events: Int16(POLLIN), revents: 0)
    case .writing(let writer, _): pollfd(fd: writer.number, events: Int16(POLLOUT), revents: 0)
    }
  }

  /// Reads or writes once; nil if the source is finished.
  fileprivate func served(with buffer: UnsafeMutableRawBufferPointer) -> Self? {
    switch self {
    case .reading(let reader, let receive):
      return read(reader, into: buffer) { receive($0) } ? self : nil
    case .acknowledging(let reader, let copy, let receive):
      LinuxCalls.copyPipe(reader, to: copy.writer, atMost: buffer.count)
      return read(copy.reader, into: buffer) { bytes in
        receive(bytes)
        _ = reader.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(bytes.count)))
      } ? self : nil
    case .writing(let writer, let rest):
      switch writer.write(rest.prefix(65_536)) {
      case .bytes(let count): return count == rest.count ? nil : .writing(writer, rest.dropFirst(count))
      case .full: return self
      case .failed: return nil
      }
    }
  }

  /// Reads once; whether there may be more.
  private func read(
    _ reader: Descriptor, into buffer: UnsafeMutableRawBufferPointer, _ receive: (ArraySlice<UInt8>) -> Void
  ) -> Bool {
    switch reader.read(into: buffer) {
    case .bytes(let count): receive(Array(buffer.prefix(count))[...])
    case .nothingYet: break
    case .end: return false
    }
    return true
  }
}
