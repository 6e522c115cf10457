import GateCore

/// Checks the grammar (RFC 8259) and the limits of a JSON text before it is decoded.
///
/// Needed because `JSONDecoder` of FoundationEssentials does not report the position of a syntax error, and follows 512
/// levels of nesting.
struct JSONScan {
  struct Fault: Error {
    /// In bytes from the start; nil for the text as a whole.
    var offset: Int?
    var problem: String
    var hint: String?
  }

  /// Nested objects and lists; a result file has eight levels.
  private static let mostLevels = 32
  private static let mostEntries = 100_000
  private static let longestText = 1 << 20

  private let bytes: UnsafeBufferPointer<UInt8>
  private var index = 0

  private init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  /// Scans the whole text, which must be one object.
  static func check(_ bytes: [UInt8]) throws(Fault) {
    let fault = bytes.withUnsafeBufferPointer { buffer -> Fault? in
      var scan = JSONScan(buffer)
      do throws(Fault) {
        try scan.document()
        return nil
      } catch {
        return ConflictVersions(bytes) == nil ? error : conflict
      }
    }
    if let fault { throw fault }
  }

  private static let conflict = Fault(
    problem: "contains merge conflict markers",
    hint: "resolve the conflict: keep one side, or approve again"
  )

  private mutating func document() throws(Fault) {
    skipSpace()
    guard index < bytes.count else { throw Fault(problem: "is empty") }
    guard bytes[index] == UInt8(ascii: "{") else { throw fault("is not a JSON object") }
    try value(level: 1)
    skipSpace()
    if index < bytes.count { throw invalid }
  }

  private mutating func value(level: Int) throws(Fault) {
    switch try next() {
    case UInt8(ascii: "{"): try entries(level, until: UInt8(ascii: "}"), haveKeys: true)
    case UInt8(ascii: "["): try entries(level, until: UInt8(ascii: "]"), haveKeys: false)
    case UInt8(ascii: "\""): try text()
    default: try word()
    }
  }

  /// The entries of an object or a list.
  private mutating func entries(_ level: Int, until end: UInt8, haveKeys: Bool) throws(Fault) {
    if level > Self.mostLevels { throw fault("is nested deeper than \(Self.mostLevels) levels") }
    index += 1
    var count = 0
    if try next() == end {
      index += 1
      return
    }
    while true {
      if haveKeys {
        guard try next() == UInt8(ascii: "\"") else { throw invalid }
        try text()
        guard try next() == UInt8(ascii: ":") else { throw invalid }
        index += 1
      }
      try value(level: level + 1)
      count += 1
      if count > Self.mostEntries { throw fault("has more than \(Self.mostEntries) entries in one list") }
      let separator = try next()
      guard separator == UInt8(ascii: ",") || separator == end else { throw invalid }
      index += 1
      if separator == end { return }
    }
  }

  /// A string; its escapes are checked by the decoder.
  private mutating func text() throws(Fault) {
    index += 1
    let start = index
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      if bytes[index] < 0x20 { throw invalid }
      let isEscape = bytes[index] == UInt8(ascii: "\\")
      // The history stores texts as C strings, which end at the first zero.
      if isEscape, bytes[index...].starts(with: "\\u0000".utf8) { throw fault("contains a zero character") }
      index += isEscape ? 2 : 1
    }
    guard index < bytes.count else { throw cut }
    if index - start > Self.longestText {
      index = start - 1
      throw fault("has a string of more than \(Self.longestText >> 20) MiB")
    }
    index += 1
  }

  /// A number, `true`, `false` or `null`; the decoder checks the form of numbers.
  private mutating func word() throws(Fault) {
    let start = index
    while index < bytes.count, Self.isOfWord(bytes[index]) { index += 1 }
    let word = bytes[start..<index]
    let digits = word.first == UInt8(ascii: "-") ? word.dropFirst() : word
    if let first = digits.first, (0x30...0x39).contains(first) {
      let hasExponent = word.contains { $0 | 0x20 == UInt8(ascii: "e") }
      // Up to 18 characters without an exponent are always less than 2^60.
      let isLarge = hasExponent || word.count > 18
      let number = isLarge ? Double(String(decoding: word, as: UTF8.self)) : 0
      let isPadded = first == 0x30 && digits.dropFirst().first.map { (0x30...0x39).contains($0) } ?? false
      if let number, !isPadded {
        if number.magnitude <= Double(Bytes.largest.count) { return }
        index = start
        throw fault("has a number that is too large")
      }
    } else if ["true", "false", "null"].contains(where: { word.elementsEqual($0.utf8) }) {
      return
    }
    index = start
    throw invalid
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }

  /// The next byte after white space, without consuming it.
  private mutating func next() throws(Fault) -> UInt8 {
    skipSpace()
    guard index < bytes.count else { throw cut }
    return bytes[index]
  }

  private mutating func skipSpace() {
    while index < bytes.count, JSON.isSpace(bytes[index]) { index += 1 }
  }

  private var invalid: Fault { fault("is not valid JSON") }

  private var cut: Fault { Fault(offset: bytes.count, problem: "ends early: the file is truncated") }

  private func fault(_ problem: String) -> Fault {
    Fault(offset: index, problem: problem)
  }
}
