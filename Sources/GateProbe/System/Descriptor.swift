package import GateCore
import Glibc
package import LinuxSystem

/// Reads and writes that may not be ready: pipes, sockets, FIFOs.
extension Descriptor {
  enum Reading: Equatable {
    case bytes(Int)
    case nothingYet
    /// All writers have closed, or the read failed.
    case end
  }

  enum Writing: Equatable {
    case bytes(Int)
    case full
    case failed(Int32)
  }

  /// Reads the available bytes once; retries after EINTR.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
    let count = retried { Glibc.read(number, buffer.baseAddress, buffer.count) }
    if count > 0 { return .bytes(count) }
    return count < 0 && errno == EAGAIN ? .nothingYet : .end
  }

  /// Writes once as much as fits; returns `.failed(EPIPE)`, without a SIGPIPE, if no reader is left.
  func write(_ bytes: some Collection<UInt8>) -> Writing {
    SignalMask.withoutPipeSignal {
      let count = Array(bytes).withUnsafeBytes { bytes in
        retried { Glibc.write(number, bytes.baseAddress, bytes.count) }
      }
      if count >= 0 { return .bytes(count) }
      return errno == EAGAIN ? .full : .failed(errno)
    }
  }
}

extension Descriptor {
  package typealias Pair = (reader: Descriptor, writer: Descriptor)

  /// Creates a close-on-exec pipe; its ends are blocking by default.
  package static func pipe(
    readerBlocks: Bool = true,
    writerBlocks: Bool = true
  ) throws(SystemFailure) -> Pair {
    guard let ends = LinuxCalls.pipe() else { throw SystemFailure(.pipe, code: errno) }
    let pair = (reader: Descriptor(owning: ends.reading), writer: Descriptor(owning: ends.writing))
    if !readerBlocks { try pair.reader.stopBlocking() }
    if !writerBlocks { try pair.writer.stopBlocking() }
    return pair
  }

  /// Opens a path (`open(2)`); throws a `SystemFailure` with the path.
  static func file(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemFailure) -> Descriptor {
    try SystemFailure.of(.open, path: path) { () throws(ErrorNumber) in try open(path, flags, mode: mode) }
  }

  private func stopBlocking() throws(SystemFailure) {
    try SystemFailure.of(.pipe) { () throws(ErrorNumber) in
      try retrying { fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK) }
    }
  }
}

/// A flag that a thread can poll together with other descriptors.
///
/// Uses a pipe, because the Glibc module does not import `eventfd` into Swift.
package final class Wakeup: Sendable {
  private let reader: Descriptor
  private let writer: Descriptor

  package init() throws(SystemFailure) {
    (reader, writer) = try Descriptor.pipe(readerBlocks: false, writerBlocks: false)
  }

  /// Readable while the flag is raised.
  package var descriptor: Int32 { reader.number }

  /// Raises the flag; never blocks, and is thread-safe.
  ///
  /// If the pipe cannot be written, the flag stays raised, since the thread would wait for ever.
  package func raise() {
    var byte: UInt8 = 1
    // No SIGPIPE: this object keeps the reader open. If the pipe is full, the flag is already raised.
    if Glibc.write(writer.number, &byte, 1) < 0, errno != EAGAIN {
      LinuxCalls.closePipe(writer: writer.number, reader: reader.number)
    }
  }

  /// Waits; whether the flag is raised before the time is over.
  package func isRaised(within time: Duration) -> Bool {
    LinuxCalls.sleep(until: .after(time), wakingOn: descriptor)
  }

  func lower() {
    withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
      var last = Descriptor.Reading.nothingYet
      repeat { last = reader.read(into: buffer) } while last != .nothingYet && last != .end
      // Its thread finds the flag raised each time, and should not need a whole CPU for that.
      if last == .end { usleep(1000) }
    }
  }
}
