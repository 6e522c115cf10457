/// Parses the bytes that are read from a marks FIFO, in any chunks.
package struct MarkerReader: Sendable {
  /// The lines so far that were not messages, including those that were too long.
  package private(set) var unknownLines = 0
  private var pending: [UInt8] = []
  /// Whether the current line is too long, and is skipped up to its newline.
  private var isSkipping = false

  package init() {}

  /// Parses the next bytes, and calls `receive` with each message that they complete.
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

  /// Ends the input: a line without a newline is incomplete, and counts as unknown.
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
