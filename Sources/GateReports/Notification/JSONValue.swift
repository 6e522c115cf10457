/// A JSON text in the making, for services whose messages are trees of blocks.
indirect enum JSONValue: Encodable {
  case string(String)
  case integer(Int)
  case bool(Bool)
  case null
  case array([JSONValue])
  case object([String: JSONValue])

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .string(let text): try container.encode(text)
    case .integer(let number): try container.encode(number)
    case .bool(let flag): try container.encode(flag)
    case .null: try container.encodeNil()
    case .array(let values): try container.encode(values)
    case .object(let values): try container.encode(values)
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  init(stringLiteral text: String) { self = .string(text) }
  init(booleanLiteral flag: Bool) { self = .bool(flag) }
  init(integerLiteral number: Int) { self = .integer(number) }
  init(arrayLiteral values: JSONValue...) { self = .array(values) }
  init(dictionaryLiteral pairs: (String, JSONValue)...) {
    self = .object(Dictionary(pairs) { _, last in last })
  }
}
