/// One line that a target writes to the marks FIFO: `phase NAME`, `mark NAME`, `iteration` or `value NAME NUMBER UNIT`.
///
/// `phase NAME wait` is of a writer that does nothing else until the FIFO is empty, and `late` of one that runs on before.
///
/// A NAME is a letter or digit, then at most 99 of `A-Z a-z 0-9 . _ -`; a NUMBER is a finite decimal number; a UNIT is
/// 1 to 20 of `A-Z a-z 0-9 . _ - / %`. Words are separated by spaces or tabs. A line has at most 512 bytes with its
/// newline, which one `write` to a pipe writes atomically (PIPE_BUF in pipe(7) is 4096; POSIX guarantees 512).
package enum MarkerMessage: Sendable, Equatable {
  /// Starts a phase; the previous one ends.
  case phase(String, writerWaits: Bool = false)
  /// The writer of the last phase has stopped waiting.
  case late
  case mark(String)
  /// Starts an iteration, by which growth is counted.
  case iteration
  case value(name: String, number: Double, unit: String)

  /// The most bytes of a line, including its newline.
  package static let longestLine = 512
}

extension MarkerMessage {
  /// Whether the target does nothing before its message is read.
  package var writerWaits: Bool {
    if case .phase(_, let writerWaits) = self { writerWaits } else { false }
  }

  /// Parses one line, without its newline; nil if it is not a message, or too long.
  package init?(parsing line: some Collection<UInt8>) {
    guard line.count < Self.longestLine else { return nil }
    let words = Self.words(of: line)
    guard let verb = words.first else { return nil }
    switch (verb, words.count) {
    case ("phase", 2) where MarkerWord.isName(words[1]): self = .phase(words[1])
    case ("phase", 3) where MarkerWord.isName(words[1]) && words[2] == "wait":
      self = .phase(words[1], writerWaits: true)
    case ("late", 1): self = .late
    case ("mark", 2) where MarkerWord.isName(words[1]): self = .mark(words[1])
    case ("iteration", 1): self = .iteration
    case ("value", 4) where MarkerWord.isName(words[1]) && MarkerWord.isUnit(words[3]):
      guard let number = MarkerWord.number(words[2]) else { return nil }
      self = .value(name: words[1], number: number, unit: words[3])
    default: return nil
    }
  }

  /// The words of a line, without a carriage return at its end.
  private static func words(of line: some Collection<UInt8>) -> [String] {
    line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// The syntax of the words of a line.
private enum MarkerWord {
  static func isName(_ word: String) -> Bool {
    let bytes = word.utf8
    guard let first = bytes.first, isAlphanumeric(first), bytes.count <= 100 else { return false }
    return bytes.allSatisfy { isAlphanumeric($0) || $0 == 0x2e || $0 == 0x5f || $0 == 0x2d }
  }

  static func isUnit(_ word: String) -> Bool {
    let others = Set("._-/%".utf8)
    return (1...20).contains(word.utf8.count) && word.utf8.allSatisfy { isAlphanumeric($0) || others.contains($0) }
  }

  /// Parses a decimal number; rejects `nan`, `inf` and hexadecimal numbers, which `Double` would accept.
  static func number(_ word: String) -> Double? {
    let allowed = Set("0123456789.+-eE".utf8)
    guard word.utf8.allSatisfy(allowed.contains), let number = Double(word), number.isFinite else { return nil }
    return number
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
  }
}
