import GateCore

/// A target's output, stored for pattern searches line by line.
///
/// Patterns match each line without its newline, cut at 8 KiB, and also an incomplete last line. At least the latest
/// 4 MiB are kept.
struct OutputLog: Sendable {
  /// A position in the output, counted from its start.
  struct Position: Sendable, Equatable {
    var offset = 0
    /// Whether a match ended here, so that the rest of the line is not a line of its own.
    var isWithinLine = false
  }

  static let maxLineLength = 8192
  static let maxBytes = 4 << 20

  private var bytes: [UInt8] = []
  /// The offset of the first byte that is kept.
  private var start = 0
  /// Whether output was dropped before it was searched.
  private(set) var hasDropped = false

  mutating func append(_ new: some Collection<UInt8>) {
    bytes += new
    guard bytes.count > 2 * Self.maxBytes else { return }
    hasDropped = true
    discard(before: start + bytes.count - Self.maxBytes)
  }

  /// Discards output that will not be searched any more.
  mutating func discard(before offset: Int) {
    let count = min(max(offset - start, 0), bytes.count)
    bytes.removeFirst(count)
    start += count
  }

  /// The output from a position, and where it really starts, which is later if output was dropped.
  func rest(from position: Position) -> Rest {
    guard position.offset >= start else { return Rest(bytes: bytes[...], position: Position(offset: start)) }
    return Rest(bytes: bytes.dropFirst(position.offset - start), position: position)
  }

  /// Output to search.
  struct Rest: Sendable {
    var bytes: ArraySlice<UInt8>
    var position: Position
  }
}

/// A search for one pattern in output that is still growing.
struct OutputSearch {
  private let regex: Regex<AnyRegexOutput>
  /// Nothing before this position matches.
  private(set) var position: OutputLog.Position

  init(for pattern: Pattern, from position: OutputLog.Position) {
    regex = pattern.compiled()
    self.position = position
  }

  /// Searches the new output: the rest of the log from ``position``.
  ///
  /// - Returns: The position after the match, where the next search begins; nil if nothing matches.
  mutating func find(in output: OutputLog.Rest) -> OutputLog.Position? {
    var (rest, start) = (output.bytes, output.position)
    while let newline = rest.firstIndex(of: 0x0a) {
      let line = rest[..<newline]
      let next = OutputLog.Position(offset: start.offset + line.count + 1)
      if let end = matchEnd(in: line, isWithinLine: start.isWithinLine) {
        return end == line.count ? next : .init(offset: start.offset + end, isWithinLine: true)
      }
      (rest, start) = (rest[(newline + 1)...], next)
    }
    position = start
    guard !rest.isEmpty, let end = matchEnd(in: rest, isWithinLine: true) else { return nil }
    return .init(offset: start.offset + end, isWithinLine: true)
  }

  /// The length of the line up to the end of the first match; nil without a match.
  ///
  /// The empty rest of a line is not a line. In a line that is not UTF-8, a match extends to the end of the line.
  private func matchEnd(in line: ArraySlice<UInt8>, isWithinLine: Bool) -> Int? {
    let searched = (line.last == 0x0d ? line.dropLast() : line).prefix(OutputLog.maxLineLength)
    guard !(searched.isEmpty && isWithinLine) else { return nil }
    let text = String(decoding: searched, as: UTF8.self)
    guard let match = text.firstMatch(of: regex) else { return nil }
    let end = text.utf8.distance(from: text.startIndex, to: match.range.upperBound)
    let isWholeLine = end == text.utf8.count || text.utf8.count != searched.count
    return isWholeLine ? line.count : end
  }
}
