import GateCore

/// What a target printed, kept so that patterns can be looked for in it line by line.
///
/// Patterns see each line without its newline, cut at 8 KiB, and also the last line while it is not finished. At
/// least the latest 4 MiB are kept.
struct OutputLog: Sendable {
  /// A place in the output, counted from its start.
  struct Position: Sendable, Equatable {
    var offset = 0
    /// Whether a match ended here, so that the rest of the line is not a line of its own.
    var isWithinLine = false
  }

  static let longestLine = 8192
  static let mostBytes = 4 << 20

  private var bytes: [UInt8] = []
  /// The place of the first byte that is kept.
  private var start = 0
  /// Whether output was dropped before it was searched.
  private(set) var hasDropped = false

  mutating func append(_ new: some Collection<UInt8>) {
    bytes += new
    guard bytes.count > 2 * Self.mostBytes else { return }
    hasDropped = true
    forget(before: start + bytes.count - Self.mostBytes)
  }

  /// Lets go of what no pattern will be looked for in any more.
  mutating func forget(before offset: Int) {
    let count = min(max(offset - start, 0), bytes.count)
    bytes.removeFirst(count)
    start += count
  }

  /// The output from a place on, and where it starts: later than asked where it was dropped.
  func rest(from position: Position) -> Rest {
    guard position.offset >= start else { return Rest(bytes: bytes[...], position: Position(offset: start)) }
    return Rest(bytes: bytes.dropFirst(position.offset - start), position: position)
  }

  /// Output that is to be searched.
  struct Rest: Sendable {
    var bytes: ArraySlice<UInt8>
    var position: Position
  }
}

/// A search for one pattern in output that is still growing.
struct OutputSearch {
  private let regex: Regex<AnyRegexOutput>
  /// Nothing before this place matches.
  private(set) var position: OutputLog.Position

  init(for pattern: Pattern, from position: OutputLog.Position) {
    regex = pattern.compiled()
    self.position = position
  }

  /// Looks at what has come since the last look: the log's rest from ``position`` on.
  ///
  /// - Returns: the place behind the match, where the next search begins; nil while nothing matches.
  mutating func look(in output: OutputLog.Rest) -> OutputLog.Position? {
    var (rest, place) = (output.bytes, output.position)
    while let newline = rest.firstIndex(of: 0x0a) {
      let line = rest[..<newline]
      let next = OutputLog.Position(offset: place.offset + line.count + 1)
      if let end = matchEnd(in: line, isWithinLine: place.isWithinLine) {
        return end == line.count ? next : .init(offset: place.offset + end, isWithinLine: true)
      }
      (rest, place) = (rest[(newline + 1)...], next)
    }
    position = place
    guard !rest.isEmpty, let end = matchEnd(in: rest, isWithinLine: true) else { return nil }
    return .init(offset: place.offset + end, isWithinLine: true)
  }

  /// The length of the line up to the end of the first match; nil where there is none.
  ///
  /// An empty rest of a line is no line. In a line that is not UTF-8 the match takes the whole line.
  private func matchEnd(in line: ArraySlice<UInt8>, isWithinLine: Bool) -> Int? {
    let seen = (line.last == 0x0d ? line.dropLast() : line).prefix(OutputLog.longestLine)
    guard !(seen.isEmpty && isWithinLine) else { return nil }
    let text = String(decoding: seen, as: UTF8.self)
    guard let match = text.firstMatch(of: regex) else { return nil }
    let end = text.utf8.distance(from: text.startIndex, to: match.range.upperBound)
    let isWholeLine = end == text.utf8.count || text.utf8.count != seen.count
    return isWholeLine ? line.count : end
  }
}
