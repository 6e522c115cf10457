/// A value that files store as one number or one string.
///
/// Decoding validates it with its initialiser, which may throw a ``UnitError``.
package protocol SingleValueCodable: Codable {
  associatedtype Coded: Codable
  var coded: Coded { get }
  init(coded: Coded) throws
}

extension SingleValueCodable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(coded: try container.decode(Coded.self))
    } catch let error as UnitError {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.problem)
    } catch DecodingError.dataCorrupted where Coded.self == Int64.self {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "is not a whole number")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(coded)
  }
}

extension Bytes: SingleValueCodable {
  package var coded: Int64 { count }
  package init(coded: Int64) throws {
    guard coded >= 0 else { throw UnitError(problem: "is negative", hint: "") }
    guard coded <= Self.largest.count else { throw UnitError(problem: "is too large", hint: "") }
    self.init(coded)
  }
}

extension Percent: SingleValueCodable {
  package var coded: Double { value }
  package init(coded: Double) { self.init(coded) }
}

extension Signal: SingleValueCodable {
  package var coded: String { name }

  /// Parses the output of ``name``, including real-time signals, and bare numbers.
  package init(coded text: String) throws {
    if let named = Signal(name: text) {
      self = named
      return
    }
    let isRealTime = text.hasPrefix("RTMIN+")
    guard let number = Int32(isRealTime ? text.dropFirst(6) : text[...]), (0...64).contains(number) else {
      throw UnitError(problem: "is not a signal: `\(text.prefix(80))`", hint: "")
    }
    self.init(number: isRealTime ? 34 + number : number)
  }
}

extension ScenarioName: SingleValueCodable {
  package var coded: String { text }
  package init(coded: String) throws { self.init(try PlainText.checked(coded)) }
}

/// A text that is printed on a line of its own or becomes part of a path.
package enum PlainText {
  /// Names of a matrix's scenarios are longer than plain ones.
  private static let longest = 400

  package static func checked(_ text: String) throws -> String {
    if text.isEmpty { throw UnitError(problem: "is empty", hint: "") }
    if text.utf8.count > longest {
      throw UnitError(problem: "has \(text.utf8.count) bytes, at most \(longest) are allowed", hint: "")
    }
    if text.unicodeScalars.contains(where: \.isControl) {
      throw UnitError(problem: "contains a control character", hint: "")
    }
    return text
  }
}

extension Unicode.Scalar {
  /// Whether the character could break a line or control a terminal.
  package var isControl: Bool {
    if isASCII { return value < 0x20 || value == 0x7f }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    default: return false
    }
  }
}

/// A position in a document, for messages.
package struct AnyCodingKey: CodingKey {
  package let stringValue: String
  package let intValue: Int?

  package init(_ name: String) { (stringValue, intValue) = (name, nil) }
  package init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
  package init?(stringValue: String) { self.init(stringValue) }
  package init?(intValue: Int) { self.init(intValue) }
}

/// A note of a kind that later versions may extend.
package protocol Remark: Codable {}

/// A value of a kind that later versions may extend; nil if it is unknown.
package struct Known<Value: Decodable>: Decodable {
  package let value: Value?

  package init(from decoder: any Decoder) throws {
    value = try? Value(from: decoder)
  }
}

extension Duration {
  /// The seconds of a file; at most about 30 years, so that the sum of a few cannot overflow.
  fileprivate init(inFile seconds: Double, _ corrupted: (String) -> DecodingError) throws {
    guard seconds >= 0 else { throw corrupted("is negative") }
    guard seconds <= 1e9 else { throw corrupted("is too large") }
    self = .nanoseconds(Int64((seconds * 1e9).rounded()))
  }
}

// MARK: - Members of objects

// The synthesised coding of this module's types uses these functions instead of the standard library's: durations are
// seconds, and counts are not negative. A missing value is an error, as with the standard library's; a type whose values
// may be missing says so with `decodeIfPresent`.

extension KeyedDecodingContainer {
  package func decode(_ type: Duration.Type, forKey key: Key) throws -> Duration {
    try Duration(inFile: decode(Double.self, forKey: key)) { corrupted(key, $0) }
  }

  package func decodeIfPresent(_ type: Duration.Type, forKey key: Key) throws -> Duration? {
    try decodeIfPresent(Double.self, forKey: key).map { try Duration(inFile: $0) { corrupted(key, $0) } }
  }

  /// A count.
  package func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    let count = try whole(key)
    guard count >= 0 else { throw corrupted(key, "is negative") }
    return count
  }

  /// A count that may be missing; other whole numbers, such as exit codes, may be negative.
  package func decodeCountIfPresent(forKey key: Key) throws -> Int? {
    try contains(key) && !decodeNil(forKey: key) ? decode(Int.self, forKey: key) : nil
  }

  /// A process ID.
  package func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    guard let id = Int32(exactly: try whole(key)) else { throw corrupted(key, "is too large") }
    return id
  }

  package func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try contains(key) && !decodeNil(forKey: key) ? whole(key) : nil
  }

  private func whole(_ key: Key) throws -> Int {
    let number = try decode(Double.self, forKey: key)
    guard number.magnitude <= Double(Bytes.largest.count) else { throw corrupted(key, "is too large") }
    guard let whole = Int(exactly: number) else { throw corrupted(key, "is not a whole number") }
    return whole
  }

  /// Unknown notes are ignored.
  package func decode<Kind: Remark>(_ type: [Kind].Type, forKey key: Key) throws -> [Kind] {
    try decode([Known<Kind>].self, forKey: key).compactMap(\.value)
  }

  package func decodeIfPresent<Kind: Remark>(_ type: [Kind].Type, forKey key: Key) throws -> [Kind]? {
    try decodeIfPresent([Known<Kind>].self, forKey: key)?.compactMap(\.value)
  }

  package func decode<Choice>(_ type: Choice.Type, forKey key: Key) throws -> Choice
  where Choice: RawRepresentable<String> & CaseIterable & Decodable {
    let text = try decode(String.self, forKey: key)
    guard let choice = Choice(rawValue: text) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw corrupted(key, "is `\(text.prefix(40))`, expected one of \(known)")
    }
    return choice
  }

  package func decodeIfPresent<Choice>(_ type: Choice.Type, forKey key: Key) throws -> Choice?
  where Choice: RawRepresentable<String> & CaseIterable & Decodable {
    try contains(key) && !decodeNil(forKey: key) ? decode(type, forKey: key) : nil
  }

  package func corrupted(_ key: Key, _ problem: String) -> DecodingError {
    .dataCorruptedError(forKey: key, in: self, debugDescription: problem)
  }
}

extension KeyedEncodingContainer {
  package mutating func encode(_ value: Duration, forKey key: Key) throws {
    try encode(max(0, value.inSeconds), forKey: key)
  }

  package mutating func encodeIfPresent(_ value: Duration?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
}
