import GateCore
import RegularExpressions

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
  /// The time for one line; then it counts as not matching.
  private static let longestSearch = Duration.milliseconds(500)

  private let regex: RegularExpression
  private let isCancelled: () -> Bool
  /// Nothing before this position matches.
  private(set) var position: OutputLog.Position
  /// Whether a line was not searched to its end.
  private(set) var hasSkipped = false

  /// Starts a search, which ends without a match when `isCancelled` returns true; it is called often.
  init(for pattern: Pattern, from position: OutputLog.Position, isCancelled: @escaping () -> Bool) {
    regex = pattern.compiled()
    self.position = position
    self.isCancelled = isCancelled
  }

  /// Searches the new output: the rest of the log from ``position``.
  ///
  /// - Returns: The position after the match, where the next search begins; nil if nothing matches.
  mutating func find(in output: OutputLog.Rest) -> OutputLog.Position? {
    var (rest, start) = (output.bytes, output.position)
    while let newline = rest.firstIndex(of: 0x0a), !isCancelled() {
      let line = rest[..<newline]
      let next = OutputLog.Position(offset: start.offset + line.count + 1)
      if let end = matchEnd(in: line, isWithinLine: start.isWithinLine) {
        return end == line.count ? next : .init(offset: start.offset + end, isWithinLine: true)
      }
      (rest, start) = (rest[(newline + 1)...], next)
    }
    position = start
    guard !rest.contains(0x0a), !rest.isEmpty, let end = matchEnd(in: rest, isWithinLine: true) else { return nil }
    return .init(offset: start.offset + end, isWithinLine: true)
  }

  /// The length of the line up to the end of the first match; nil without a match.
  ///
  /// The empty rest of a line is not a line. In a line that is not UTF-8, a match extends to the end of the line.
  private mutating func matchEnd(in line: ArraySlice<UInt8>, isWithinLine: Bool) -> Int? {
    let searched = (line.last == 0x0d ? line.dropLast() : line).prefix(OutputLog.maxLineLength)
    guard !(searched.isEmpty && isWithinLine) else { return nil }
    let text = Array(String(decoding: searched, as: UTF8.self).utf8)
    let deadline = MonotonicTime.after(Self.longestSearch)
    switch regex.firstMatch(in: text[...], isCancelled: { deadline.hasPassed || isCancelled() }) {
    case .match(let end): return end == text.count || text.count != searched.count ? line.count : end
    case .noMatch: return nil
    case .abandoned:
      hasSkipped = true
      return nil
    }
  }
}
