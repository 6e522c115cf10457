@preconcurrency import Glibc

/// Arguments, variables and paths as text: Linux allows all bytes in them, text only UTF-8.
///
/// A byte that is not part of UTF-8 becomes the character U+10FF00 + byte, which is for private use, and the same in the
/// other direction; Python does so with surrogates (PEP 383). Where these characters themselves come in, each of their
/// bytes is treated so, and nothing is ambiguous.
extension String {
  /// Text from the system; each sequence of bytes gives another text.
  package init(systemBytes bytes: [UInt8]) {
    self = ""
    var (parser, input, position) = (Unicode.UTF8.ForwardParser(), bytes.makeIterator(), 0)
    while true {
      let length: Int
      switch parser.parseScalar(from: &input) {
      case .valid(let encoded):
        let scalar = Unicode.UTF8.decode(encoded)
        length = encoded.count
        if scalar.systemByte == nil {
          unicodeScalars.append(scalar)
        } else {
          unicodeScalars.append(contentsOf: encoded.map(Unicode.Scalar.init(systemByte:)))
        }
      case .error(let invalid):
        length = invalid
        unicodeScalars.append(contentsOf: bytes[position..<(position + invalid)].map(Unicode.Scalar.init(systemByte:)))
      case .emptyInput: return
      }
      position += length
    }
  }

  /// Text from the system that ends with a zero byte.
  package init(systemText text: UnsafePointer<CChar>) {
    self.init(systemBytes: Array(UnsafeRawBufferPointer(start: text, count: strlen(text))))
  }

  /// The bytes for the system.
  package var systemBytes: [UInt8] {
    // All characters that stand for a byte begin with this one.
    guard utf8.contains(0xf4) else { return Array(utf8) }
    return unicodeScalars.flatMap { scalar in scalar.systemByte.map { [$0] } ?? Array(String(scalar).utf8) }
  }

  /// The bytes for the system, with a zero at the end.
  package var systemText: [CChar] {
    systemBytes.map { CChar(bitPattern: $0) } + [0]
  }

  /// Whether the text has bytes that are not UTF-8.
  package var hasSystemBytes: Bool {
    utf8.contains(0xf4) && unicodeScalars.contains { $0.systemByte != nil }
  }
}

extension Unicode.Scalar {
  private static let firstSystemByte: UInt32 = 0x10ff80

  fileprivate init(systemByte byte: UInt8) {
    self = Unicode.Scalar(0x10ff00 + UInt32(byte)) ?? "\u{fffd}"
  }

  /// The byte that the character stands for; nil for all other characters.
  package var systemByte: UInt8? {
    value >= Self.firstSystemByte ? UInt8(truncatingIfNeeded: value) : nil
  }
}

/// What the process was started with.
package enum ProcessInput {
  /// The variables by name; the first of two with one name counts, as in getenv(3).
  package static var environment: [String: String] {
    var variables: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(systemText: entry)
      if let equals = text.firstIndex(of: "="), equals != text.startIndex {
        let name = String(text[..<equals])
        if variables[name] == nil { variables[name] = String(text[text.index(after: equals)...]) }
      }
      next += 1
    }
    return variables
  }

  /// The working directory; `/` if it has been removed.
  package static var workingDirectory: String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(systemText: path)
  }
}
