import FoundationEssentials

/// A JSON text as values; ``JSONGrammar`` has gone over it before.
///
/// This type is necessary because `JSONDecoder` is too slow for an import of thousands of runs: for 10,000 of 22 KB it
/// took 10 s of processor time, and this takes 4.4 s (release build, 2026-11).
enum JSONTree {
  case null
  case bool(Bool)
  case whole(Int64)
  case number(Double)
  case text(String)
  case list([JSONTree])
  case object([(key: String, value: JSONTree)])

  /// The tree of a text that keeps the grammar; nil where a text within it is not valid Unicode.
  init?(_ bytes: [UInt8]) {
    let tree = bytes.withUnsafeBufferPointer { buffer in
      var reader = JSONTreeReader(bytes: buffer)
      return reader.value()
    }
    guard let tree else { return nil }
    self = tree
  }
}

/// Reads one value after the other; since the bytes keep the grammar, no read goes beyond their end.
private struct JSONTreeReader {
  let bytes: UnsafeBufferPointer<UInt8>
  var index = 0

  mutating func value() -> JSONTree? {
    skipSpace()
    switch bytes[index] {
    case UInt8(ascii: "{"): return object()
    case UInt8(ascii: "["): return list()
    case UInt8(ascii: "\""): return text().map(JSONTree.text)
    case UInt8(ascii: "t"): return word(4, .bool(true))
    case UInt8(ascii: "f"): return word(5, .bool(false))
    case UInt8(ascii: "n"): return word(4, .null)
    default: return number()
    }
  }

  private mutating func object() -> JSONTree? {
    var members: [(key: String, value: JSONTree)] = []
    while opensNext(before: UInt8(ascii: "}")) {
      guard let key = text() else { return nil }
      skipSpace()
      // The colon.
      index += 1
      guard let value = value() else { return nil }
      members.append((key, value))
    }
    return .object(members)
  }

  private mutating func list() -> JSONTree? {
    var elements: [JSONTree] = []
    while opensNext(before: UInt8(ascii: "]")) {
      guard let value = value() else { return nil }
      elements.append(value)
    }
    return .list(elements)
  }

  /// Goes over the opening bracket or a comma to what follows it; false after going over the closing bracket.
  private mutating func opensNext(before end: UInt8) -> Bool {
    skipSpace()
    if bytes[index] != end { index += 1 }
    skipSpace()
    guard bytes[index] == end else { return true }
    index += 1
    return false
  }

  private mutating func text() -> String? {
    let start = index + 1
    index = start
    var hasEscapes = false
    while bytes[index] != UInt8(ascii: "\"") {
      let isEscape = bytes[index] == UInt8(ascii: "\\")
      hasEscapes = hasEscapes || isEscape
      index += isEscape ? 2 : 1
    }
    let content = bytes[start..<index]
    index += 1
    // Escapes are rare here, and have rules of their own.
    return hasEscapes ? Self.unescaped(content) : String(validating: content, as: UTF8.self)
  }

  private static func unescaped(_ content: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
    let quoted = Data([UInt8(ascii: "["), UInt8(ascii: "\"")] + content + [UInt8(ascii: "\""), UInt8(ascii: "]")])
    return (try? JSONDecoder().decode([String].self, from: quoted))?.first
  }

  private mutating func word(_ length: Int, _ value: JSONTree) -> JSONTree {
    index += length
    return value
  }

  private mutating func number() -> JSONTree? {
    let start = index
    let isNegative = bytes[index] == UInt8(ascii: "-")
    if isNegative { index += 1 }
    var whole: Int64 = 0
    let digits = index
    while index < bytes.count, (0x30...0x39).contains(bytes[index]) {
      whole = whole &* 10 &+ Int64(bytes[index] &- 0x30)
      index += 1
    }
    let isWhole =
      index == bytes.count || ![UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(bytes[index])
    // 18 digits are always less than 2^63; minus zero is no whole number.
    if isWhole, index - digits <= 18, !(isNegative && whole == 0) { return .whole(isNegative ? -whole : whole) }
    while index < bytes.count, isOfNumber(bytes[index]) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    return Int64(text).map(JSONTree.whole) ?? Double(text).map(JSONTree.number)
  }

  private func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private mutating func skipSpace() {
    while index < bytes.count, bytes[index] == 0x20 || (0x09...0x0d).contains(bytes[index]) { index += 1 }
  }
}

/// One value of a tree and its place, as a document reads it.
///
/// Documents read through ``JSONFields`` and the functions here; the containers of `Decodable` are not made.
struct JSONNode: Decoder {
  let tree: JSONTree
  private let parent: [any CodingKey]
  private let key: (any CodingKey)?
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Put together only where it is asked for, since most values are sound and have nothing within them.
  var codingPath: [any CodingKey] { key.map { parent + [$0] } ?? parent }

  init(_ tree: JSONTree, in parent: [any CodingKey] = [], at key: (any CodingKey)? = nil) {
    self.tree = tree
    self.parent = parent
    self.key = key
  }

  init(_ decoder: any Decoder) throws {
    guard let node = decoder as? JSONNode else { throw Self.noContainer }
    self = node
  }

  func text() throws -> String {
    guard case .text(let text) = tree else { throw mismatch("a text") }
    return text
  }

  func number() throws -> Double {
    switch tree {
    case .whole(let whole): return Double(whole)
    case .number(let number): return number
    default: throw mismatch("a number")
    }
  }

  func flag() throws -> Bool {
    guard case .bool(let flag) = tree else { throw mismatch("true or false") }
    return flag
  }

  func members() throws -> [(key: String, value: JSONTree)] {
    guard case .object(let members) = tree else { throw mismatch("an object") }
    return members
  }

  func elements() throws -> [JSONNode] {
    guard case .list(let elements) = tree else { throw mismatch("a list") }
    let path = codingPath
    return elements.enumerated().map { JSONNode($1, in: path, at: ListIndex($0)) }
  }

  private func mismatch(_ kind: String) -> DocumentFault {
    if case .null = tree { return DocumentFault(path: codingPath, problem: "is null and not \(kind)") }
    return DocumentFault(path: codingPath, problem: "is not \(kind)")
  }

  private static let noContainer = DocumentFault(problem: "cannot be read")

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw Self.noContainer
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw Self.noContainer
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw Self.noContainer
  }
}

/// A place in a list.
struct ListIndex: CodingKey {
  let intValue: Int?
  var stringValue: String { intValue.map { "\($0)" } ?? "" }

  init(_ index: Int) {
    intValue = index
  }

  init?(intValue: Int) {
    self.init(intValue)
  }

  init?(stringValue: String) {
    nil
  }
}
