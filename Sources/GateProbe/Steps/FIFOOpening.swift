import GateCore
import Glibc
import LinuxSystem
import Synchronization

/// Opens a FIFO for reading on a thread of its own: open(2) waits until another process opens it for writing.
final class FIFOOpening: Sendable {
  private let path: String
  private let opened: Mutex<Result<Descriptor, SystemFailure>?>
  private let finished: Wakeup

  init(_ path: String) throws(SystemFailure) {
    self.path = path
    opened = Mutex(nil)
    finished = try Wakeup()
    let thread = try SystemFailure.of(.thread) { () throws(ErrorNumber) in
      try PosixThread(named: "hw-fifo") { [self] in
        let result = Result { () throws(SystemFailure) in try Descriptor.file(path, O_RDONLY) }
        opened.withLock { $0 = result }
        finished.raise()
      }
    }
    thread.detach()
  }

  static func isFIFO(_ path: String) -> Bool {
    var facts = stat()
    return stat(path.systemText, &facts) == 0 && facts.st_mode & S_IFMT == S_IFIFO
  }

  /// Readable when there is a result.
  var descriptor: Int32 { finished.descriptor }

  /// The open FIFO or the error; nil while nobody writes to it.
  var result: Result<Descriptor, SystemFailure>? { opened.withLock { $0 } }

  /// Ends the thread by opening the FIFO for writing, which fails until the thread waits for a writer.
  func cancel() {
    for _ in 0..<100 where result == nil {
      _ = try? Descriptor.open(path, O_WRONLY | O_NONBLOCK)
      Polling.wait(toRead: [descriptor], atMost: .milliseconds(5))
    }
  }
}
