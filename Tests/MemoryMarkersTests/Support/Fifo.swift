import Glibc
import MarkerProtocol

/// A marks FIFO with its reader, as in Highwater.
final class Fifo {
  let path: String
  private let folder: TestFolder
  private var descriptor: CInt
  private var reader = MarkerReader()
  private(set) var messages: [MarkerMessage] = []

  var unknownLines: Int { reader.unknownLines }

  init(in folder: TestFolder) throws {
    self.folder = folder
    path = folder.file("marks")
    guard mkfifo(path, 0o600) == 0 else { throw Program.Failure(call: "mkfifo", code: errno) }
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw Program.Failure(call: "open", code: errno) }
  }

  deinit { closeReader() }

  /// The environment of the fixture.
  var variables: [String: String] { ["HIGHWATER_MARKS": path] }

  /// Reads the messages that are available.
  func read() {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while case let count = Glibc.read(descriptor, &bytes, bytes.count), count > 0 {
      reader.read(bytes[..<count]) { messages.append($0) }
    }
  }

  /// Reads until no process has the FIFO open for writing; gives up after two minutes without a message.
  func readToEnd() {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    repeat {
      poll(&state, 1, 120_000)
      read()
    } while state.revents & Int16(POLLHUP) == 0 && state.revents != 0
    reader.finish()
  }

  /// Closes the reading end, as if Highwater was killed.
  func closeReader() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
