/// Both versions of a text in which git left the markers of a merge conflict.
struct ConflictVersions: Equatable {
  private(set) var ours: [UInt8] = []
  private(set) var theirs: [UInt8] = []

  /// nil if no line is a marker.
  init?(_ text: [UInt8]) {
    guard Self.hasMarker(text) else { return nil }
    var part = Part.both
    for line in text.split(separator: 0x0a) {
      if let next = Part(after: line) {
        part = next
        continue
      }
      if part == .both || part == .ours { ours += line + [0x0a] }
      if part == .both || part == .theirs { theirs += line + [0x0a] }
    }
  }

  private enum Part {
    case both, ours, base, theirs

    /// The part that a marker begins: seven equal characters, and maybe a space and a name; nil for any other line.
    init?(after line: ArraySlice<UInt8>) {
      let start = line.prefix(7)
      guard start.count == 7, start.allSatisfy({ $0 == start.first }) else { return nil }
      if let next = line.dropFirst(7).first, ![0x20, 0x0d, 0x0a].contains(next) { return nil }
      switch start.first {
      case UInt8(ascii: "<"): self = .ours
      case UInt8(ascii: "|"): self = .base
      case UInt8(ascii: "="): self = .theirs
      case UInt8(ascii: ">"): self = .both
      default: return nil
      }
    }
  }

  private static func hasMarker(_ text: [UInt8]) -> Bool {
    var isLineStart = true
    for (index, byte) in text.enumerated() {
      // No line of a JSON file begins with these.
      if isLineStart, 0x3c...0x3e ~= byte, Part(after: text[index...].prefix(8)) != nil { return true }
      isLineStart = byte == 0x0a
    }
    return false
  }
}
