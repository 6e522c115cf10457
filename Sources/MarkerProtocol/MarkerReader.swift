/// Finds the messages in the bytes that come out of a marks FIFO, however they are cut.
package struct MarkerReader: Sendable {
  /// Lines so far that no message was, those that were too long included.
  package private(set) var unknownLines = 0
  private var pending: [UInt8] = []
  /// Whether the line under way is too long already, and is skipped up to its newline.
  private var isSkipping = false

  package init() {}

  /// Takes the bytes that came next, and calls `receive` with each message that they complete.
  package mutating func read(_ bytes: some Collection<UInt8>, receive: (MarkerMessage) -> Void) {
    for byte in bytes {
      if byte == 0x0a {
        endLine(receive: receive)
      } else if pending.count + 1 < MarkerMessage.longestLine {
        pending.append(byte)
      } else {
        isSkipping = true
      }
    }
  }

  /// Tells that nothing comes any more: a line without its newline was torn, and counts as not understood.
  package mutating func finish() {
    guard !pending.isEmpty else { return }
    unknownLines += 1
    pending = []
    isSkipping = false
  }

  private mutating func endLine(receive: (MarkerMessage) -> Void) {
    if !isSkipping, let message = MarkerMessage(parsing: pending) {
      receive(message)
    } else {
      unknownLines += 1
    }
    pending.removeAll(keepingCapacity: true)
    isSkipping = false
  }
}
