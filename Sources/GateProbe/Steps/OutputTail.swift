/// The last lines that a program printed, made harmless for a terminal.
///
/// At most 20 lines, each cut at 400 bytes: enough for a message and the top of a stack trace.
struct OutputTail: Sendable {
  static let mostLines = 20
  static let longestLine = 400

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
      if unfinished.count <= Self.longestLine { unfinished.append(byte) }
    }
  }

  /// The lines in their order; invalid UTF-8 is repaired, and control characters are spelled out.
  var lines: [String] {
    (hasUnfinished ? finished + [unfinished] : finished).suffix(Self.mostLines).map(Self.harmless)
  }

  var text: String {
    lines.joined(separator: "\n")
  }

  private mutating func endLine() {
    finished.append(unfinished)
    if finished.count > Self.mostLines { finished.removeFirst() }
    unfinished = []
    hasUnfinished = false
  }

  private static func harmless(_ bytes: [UInt8]) -> String {
    let isCut = bytes.count > longestLine
    let plain = bytes.last == 0x0d ? bytes.dropLast() : bytes.prefix(longestLine)
    return String(decoding: plain, as: UTF8.self).spellingOutControls + (isCut ? "…" : "")
  }
}

extension String {
  /// The text with each character that could steer a terminal or turn the direction of writing spelled out, as in
  /// `\u{1b}`; a tab becomes a space.
  var spellingOutControls: String {
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
