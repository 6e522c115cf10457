import Glibc
import MarkerProtocol

/// A marks FIFO with its reader, as the gate has it.
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

  deinit { hangUp() }

  /// What a fixture needs to find it.
  var variables: [String: String] { ["HIGHWATER_MARKS": path] }

  /// Reads what is there now.
  func read() {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while case let count = Glibc.read(descriptor, &bytes, bytes.count), count > 0 {
      reader.read(bytes[..<count]) { messages.append($0) }
    }
  }

  /// Reads until nobody has it open for writing any more.
  func readToEnd() {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    repeat {
      poll(&state, 1, 10_000)
      read()
    } while state.revents & Int16(POLLHUP) == 0 && state.revents != 0
    reader.finish()
  }

  /// Closes the reading end, as a gate that was killed does.
  func hangUp() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
