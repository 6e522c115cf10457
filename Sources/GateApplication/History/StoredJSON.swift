import FoundationEssentials
import GateCore

/// Values that rows refer to by ID, decoded once.
struct StoredJSON<Value: Decodable> {
  private let find: (Int64) throws -> String?
  private var values: [Int64: Value] = [:]

  init(_ find: @escaping (Int64) throws -> String?) {
    self.find = find
  }

  mutating func value(_ id: Int64) throws -> Value {
    if let value = values[id] { return value }
    guard let json = try find(id) else { throw DamagedRow("no \(Value.self) with the ID \(id)") }
    let value = try JSONColumn.decode(Value.self, from: json)
    values[id] = value
    return value
  }
}

/// A row whose contents are not what this program writes.
struct DamagedRow: Error {
  let problem: String

  init(_ problem: String) {
    self.problem = problem
  }
}

/// Values as JSON texts; equal values have equal texts, except for the order of sets.
enum JSONColumn {
  static func encode(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .millisecondsSince1970
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from json: String) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    do {
      return try decoder.decode(type, from: Data(json.utf8))
    } catch {
      throw DamagedRow("a stored \(type) cannot be decoded")
    }
  }
}
