/// The most that a document may hold; beyond it somebody made the file to do harm.
enum DocumentLimit {
  /// The bytes of one text.
  static let text = 65_536
  static let scenarios = 10_000
  static let repetitions = 1000
  /// Phases, rules, notes and judged metrics of one scenario or repetition.
  static let list = 10_000
  /// The bytes of a scenario's name; those of a matrix are longer than plain ones.
  static let name = 400
  /// Amounts of memory and rates: 1 EiB (2^60), as ``Bytes/largest``.
  static let amount = 1_152_921_504_606_846_976.0
  /// Seconds: some 30 years.
  static let seconds = 1e9
}

/// One object of a document, read with checks.
///
/// A key that nobody asks for is ignored, so that a later version may add some; `null` is as if the key were missing.
struct JSONFields {
  private let members: [(key: String, value: JSONTree)]
  private let path: [any CodingKey]

  init(_ decoder: any Decoder) throws {
    try self.init(JSONNode(decoder))
  }

  private init(_ node: JSONNode) throws {
    members = try node.members()
    path = node.codingPath
  }

  var names: [String] { members.map(\.key) }

  func has(_ key: JSONName) -> Bool {
    nodeIfAny(key) != nil
  }

  /// What stands under a key; where it is there twice, the first counts.
  private func node(_ key: JSONName) throws -> JSONNode {
    guard let member = members.first(where: { $0.key == key.stringValue }) else { throw fault(key, "is missing") }
    return JSONNode(member.value, in: path, at: key)
  }

  private func nodeIfAny(_ key: JSONName) -> JSONNode? {
    guard let member = members.first(where: { $0.key == key.stringValue }) else { return nil }
    if case .null = member.value { return nil }
    return JSONNode(member.value, in: path, at: key)
  }

  func value<Value: Decodable>(_ key: JSONName, as type: Value.Type = Value.self) throws -> Value {
    try Value(from: node(key))
  }

  func valueIfAny<Value: Decodable>(_ key: JSONName, as type: Value.Type = Value.self) throws -> Value? {
    try nodeIfAny(key).map { try Value(from: $0) }
  }

  func flag(_ key: JSONName) throws -> Bool {
    try nodeIfAny(key)?.flag() ?? false
  }

  func list<Element: Decodable>(
    _ key: JSONName,
    of type: Element.Type = Element.self,
    atMost most: Int = DocumentLimit.list
  ) throws -> [Element] {
    let elements = try node(key).elements()
    try refuse(elements.count, above: most, of: key)
    return try elements.map { try Element(from: $0) }
  }

  func listIfAny<Element: Decodable>(
    _ key: JSONName,
    of type: Element.Type = Element.self,
    atMost most: Int = DocumentLimit.list
  ) throws -> [Element] {
    has(key) ? try list(key, of: type, atMost: most) : []
  }

  /// The objects of a list, each as `read` makes something of it.
  func objects<Value>(
    _ key: JSONName,
    atMost most: Int,
    read: (JSONFields) throws -> Value
  ) throws -> [Value] {
    let elements = try node(key).elements()
    try refuse(elements.count, above: most, of: key)
    return try elements.map { try read(JSONFields($0)) }
  }

  private func refuse(_ count: Int, above most: Int, of key: JSONName) throws {
    guard count > most else { return }
    throw fault(key, "has \(count) entries, and \(most) are the most")
  }

  func fault(_ key: JSONName, _ problem: String, hint: String? = nil) -> DocumentFault {
    DocumentFault(path: path + [key], problem: problem, hint: hint)
  }
}

// MARK: - Texts

extension JSONFields {
  func text(_ key: JSONName) throws -> String {
    let text = try node(key).text()
    guard text.utf8.count <= DocumentLimit.text else {
      throw fault(key, "has \(text.utf8.count) bytes, and \(DocumentLimit.text) are the most")
    }
    return text
  }

  func textIfAny(_ key: JSONName) throws -> String? {
    has(key) ? try text(key) : nil
  }

  /// A text that is shown on a line of its own or becomes a part of a path.
  func name(_ key: JSONName, atMost most: Int = DocumentLimit.name) throws -> String {
    let text = try text(key)
    if text.isEmpty { throw fault(key, "is empty") }
    if text.utf8.count > most { throw fault(key, "has \(text.utf8.count) bytes, and \(most) are the most") }
    if text.unicodeScalars.contains(where: \.isControl) { throw fault(key, "holds a control character") }
    return text
  }

  /// A text out of a fixed list.
  func choice<Value>(_ key: JSONName, as type: Value.Type = Value.self) throws -> Value
  where Value: RawRepresentable<String>, Value: CaseIterable {
    let text = try text(key)
    guard let value = Value(rawValue: text) else {
      let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw fault(key, "has an unknown value `\(DocumentFault.shown(text))`", hint: "it is one of \(known)")
    }
    return value
  }

  func choiceIfAny<Value>(_ key: JSONName, as type: Value.Type = Value.self) throws -> Value?
  where Value: RawRepresentable<String>, Value: CaseIterable {
    has(key) ? try choice(key, as: type) : nil
  }
}

// MARK: - Numbers

extension JSONFields {
  func number(_ key: JSONName, in range: ClosedRange<Double>) throws -> Double {
    let number = try node(key).number()
    if let problem = Self.problem(with: number, in: range) { throw fault(key, problem) }
    return number
  }

  func numberIfAny(_ key: JSONName, in range: ClosedRange<Double>) throws -> Double? {
    has(key) ? try number(key, in: range) : nil
  }

  func whole(_ key: JSONName, in range: ClosedRange<Int64>) throws -> Int64 {
    if case .whole(let exact)? = nodeIfAny(key)?.tree, range.contains(exact) { return exact }
    let number = try number(key, in: Double(range.lowerBound)...Double(range.upperBound))
    guard let whole = Int64(exactly: number) else { throw fault(key, "is not a whole number") }
    return whole
  }

  func wholeIfAny(_ key: JSONName, in range: ClosedRange<Int64>) throws -> Int64? {
    has(key) ? try whole(key, in: range) : nil
  }

  /// What is wrong with a number; nil if nothing is.
  static func problem(with number: Double, in range: ClosedRange<Double>) -> String? {
    guard number.isFinite, number.magnitude <= DocumentLimit.amount else { return "is too large a number" }
    if range.contains(number) { return nil }
    if number < 0, range.lowerBound == 0 { return "is negative" }
    return number < range.lowerBound ? "is too small a number" : "is too large a number"
  }
}

// MARK: - Writing

extension KeyedEncodingContainer<JSONName> {
  /// Writes a value, or `null`: readers find every documented key.
  mutating func encodeOrNull(_ value: (some Encodable)?, forKey key: JSONName) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }
}

extension String {
  /// The text, cut so that a reader with ``DocumentLimit/text`` takes it.
  var boundedStart: String {
    guard utf8.count > DocumentLimit.text else { return self }
    var end = utf8.index(startIndex, offsetBy: DocumentLimit.text)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }

  /// The last part of the text that a reader with ``DocumentLimit/text`` takes.
  var boundedEnd: String {
    guard utf8.count > DocumentLimit.text else { return self }
    var start = utf8.index(endIndex, offsetBy: -DocumentLimit.text)
    while start.samePosition(in: unicodeScalars) == nil { start = utf8.index(after: start) }
    return String(self[start...])
  }
}
