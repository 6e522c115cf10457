/// A JSON document of another program, whose shape differs from version to version.
indirect enum JSONValue: Decodable {
  case null
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() || (try? container.decode(Bool.self)) != nil {
      self = .null
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([JSONValue].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  subscript(key: String) -> JSONValue? { object?[key] }

  var number: Double? { if case .number(let number) = self { number } else { nil } }
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var list: [JSONValue]? { if case .list(let list) = self { list } else { nil } }
  var object: [String: JSONValue]? { if case .object(let object) = self { object } else { nil } }
}

extension JSON {
  /// Decodes a document of another program; Python also writes `NaN` and `Infinity`, which are read as null.
  static func decodeForeign(_ bytes: [UInt8], path: String, hint: String) throws(FileError) -> JSONValue {
    try decode(JSONValue.self, from: withoutNonFinite(bytes), path: path, hint: hint)
  }

  private static func withoutNonFinite(_ bytes: [UInt8]) -> [UInt8] {
    let words = ["-Infinity", "Infinity", "NaN"].map { Array($0.utf8) }
    var (result, state, index) = ([UInt8](), StringState(), 0)
    result.reserveCapacity(bytes.count)
    while index < bytes.count {
      if !state.isInside, let word = words.first(where: { bytes[index...].starts(with: $0) }) {
        result += "null".utf8
        index += word.count
      } else {
        state.read(bytes[index])
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }
}
