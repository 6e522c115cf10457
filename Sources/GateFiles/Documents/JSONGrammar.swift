/// Checks a text against the grammar of JSON (RFC 8259) before it is decoded.
///
/// This type is necessary because `JSONDecoder` of FoundationEssentials does not tell where a text breaks the grammar,
/// takes a number beyond `Double` for a broken text, and follows 512 levels of nesting; ``JSONTree`` relies on it.
struct JSONGrammar {
  struct Fault: Error {
    /// As `line:column`, both from 1, the column in bytes; nil where the text as a whole is meant.
    var position: String?
    var problem: String
    var hint: String?
  }

  private let bytes: [UInt8]
  private let deepest: Int
  private var index = 0

  private init(_ bytes: [UInt8], deepest: Int) {
    self.bytes = bytes
    self.deepest = deepest
  }

  /// Goes over the whole text; `deepest` is the most objects and lists within one another.
  static func check(_ bytes: [UInt8], deepest: Int) throws(Fault) {
    guard let first = bytes.first(where: { !isSpace($0) }) else { throw Fault(problem: "is empty") }
    var grammar = JSONGrammar(bytes, deepest: deepest)
    do throws(Fault) {
      guard first == UInt8(ascii: "{") else { throw Fault(position: "1:1", problem: "is not a JSON object") }
      try grammar.value(depth: 0)
      grammar.skipSpace()
      if grammar.index < bytes.count { throw grammar.fault("is not valid JSON") }
    } catch {
      throw grammar.isAtConflictMark ? conflict : error
    }
  }

  private static let conflict = Fault(
    problem: "holds conflict marks of a merge",
    hint: "settle the conflict: take one side whole, or approve again"
  )

  /// Whether the line of the fault is one of those that git writes around the two sides of a conflict.
  private var isAtConflictMark: Bool {
    let start = bytes[..<min(index, bytes.count)].lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    return ["<<<<<<< ", "=======", ">>>>>>> "].contains { bytes[start...].starts(with: $0.utf8) }
  }

  // MARK: Values

  private mutating func value(depth: Int) throws(Fault) {
    skipSpace()
    switch try peek() {
    case UInt8(ascii: "{"): try members(depth: depth + 1)
    case UInt8(ascii: "["): try elements(depth: depth + 1)
    case UInt8(ascii: "\""): try text()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
  }

  private mutating func members(depth: Int) throws(Fault) {
    try open(depth)
    if try skips("}") { return }
    repeat {
      skipSpace()
      try text()
      guard try skips(":") else { throw fault("is not valid JSON") }
      try value(depth: depth)
    } while try skips(",")
    guard try skips("}") else { throw fault("is not valid JSON") }
  }

  private mutating func elements(depth: Int) throws(Fault) {
    try open(depth)
    if try skips("]") { return }
    repeat {
      try value(depth: depth)
    } while try skips(",")
    guard try skips("]") else { throw fault("is not valid JSON") }
  }

  private mutating func open(_ depth: Int) throws(Fault) {
    if depth > deepest { throw fault("is nested deeper than \(deepest) levels") }
    index += 1
  }

  /// A text; its escapes are left to the decoder.
  private mutating func text() throws(Fault) {
    guard try peek() == UInt8(ascii: "\"") else { throw fault("is not valid JSON") }
    index += 1
    while try peek() != UInt8(ascii: "\"") {
      if bytes[index] < 0x20 { throw fault("is not valid JSON") }
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    index += 1
  }

  private mutating func word(_ word: StaticString) throws(Fault) {
    for offset in 0..<word.utf8CodeUnitCount {
      guard try peek() == word.utf8Start[offset] else { throw fault("is not valid JSON") }
      index += 1
    }
  }

  private mutating func number() throws(Fault) {
    let start = index
    if try peek() == UInt8(ascii: "-") { index += 1 }
    let isZero = try peek() == UInt8(ascii: "0")
    let whole = try digits()
    if isZero, whole > 1 {
      index = start
      throw fault("is not valid JSON")
    }
    if nextIs(".") {
      index += 1
      try digits()
    }
    var mayBeTooLarge = whole > 300
    if nextIs("e") || nextIs("E") {
      mayBeTooLarge = true
      index += 1
      if nextIs("+") || nextIs("-") { index += 1 }
      try digits()
    }
    guard mayBeTooLarge else { return }
    let number = Double(String(decoding: bytes[start..<index], as: UTF8.self))
    if number?.isFinite != true {
      index = start
      throw fault("has a number here that is too large")
    }
  }

  /// Goes over one digit or more.
  @discardableResult
  private mutating func digits() throws(Fault) -> Int {
    let start = index
    while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
    if index > start { return index - start }
    _ = try peek()
    throw fault("is not valid JSON")
  }

  // MARK: Bytes

  private func peek() throws(Fault) -> UInt8 {
    guard index < bytes.count else {
      throw Fault(position: position(of: bytes.count), problem: "ends in the middle: it is cut short")
    }
    return bytes[index]
  }

  private func nextIs(_ character: Unicode.Scalar) -> Bool {
    index < bytes.count && bytes[index] == UInt8(ascii: character)
  }

  /// Goes over space and then over the character, if it is there.
  private mutating func skips(_ character: Unicode.Scalar) throws(Fault) -> Bool {
    skipSpace()
    guard try peek() == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func skipSpace() {
    while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
  }

  private func fault(_ problem: String) -> Fault {
    Fault(position: position(of: index), problem: problem)
  }

  private func position(of index: Int) -> String {
    let before = bytes[..<index]
    let line = before.count { $0 == 0x0a }
    let start = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    return "\(line + 1):\(index - start + 1)"
  }
}
