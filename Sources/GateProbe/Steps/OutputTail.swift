/// The last lines that a program printed, safe to show in a terminal.
///
/// At most 20 lines of 400 bytes: enough for a message and the top of a stack trace.
struct OutputTail: Sendable {
  static let maxLines = 20
  static let maxLineLength = 400

  private var finished: [[UInt8]] = []
  private var unfinished: [UInt8] = []
  private var hasUnfinished = false

  mutating func append(_ bytes: some Collection<UInt8>) {
    for byte in bytes {
      guard byte != 0x0a else {
        endLine()
        continue
      }
      hasUnfinished = true
      if unfinished.count <= Self.maxLineLength { unfinished.append(byte) }
    }
  }

  /// The lines in order; invalid UTF-8 is repaired, and control characters are escaped.
  var lines: [String] {
    (hasUnfinished ? finished + [unfinished] : finished).suffix(Self.maxLines).map(Self.sanitized)
  }

  var text: String {
    lines.joined(separator: "\n")
  }

  private mutating func endLine() {
    finished.append(unfinished)
    if finished.count > Self.maxLines { finished.removeFirst() }
    unfinished = []
    hasUnfinished = false
  }

  private static func sanitized(_ bytes: [UInt8]) -> String {
    let isCut = bytes.count > maxLineLength
    let plain = bytes.last == 0x0d ? bytes.dropLast() : bytes.prefix(maxLineLength)
    return String(decoding: plain, as: UTF8.self).escapingControls + (isCut ? "…" : "")
  }
}

extension String {
  /// The text with escapes such as `\u{1b}` for control characters and characters that change the direction of writing;
  /// a tab becomes a space.
  var escapingControls: String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x09: result += " "
      case 0x0d: result += "\\r"
      case 0..<0x20, 0x7f..<0xa0, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
