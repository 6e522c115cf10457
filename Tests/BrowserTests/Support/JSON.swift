/// A JSON value, for WebDriver commands.
enum JSON: Encodable, Sendable {
  case text(String)
  case number(Int)
  case real(Double)
  case flag(Bool)
  case list([JSON])
  case object([String: JSON])

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .real(let value): try container.encode(value)
    case .flag(let value): try container.encode(value)
    case .list(let values): try container.encode(values)
    case .object(let values): try container.encode(values)
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  init(stringLiteral value: String) { self = .text(value) }
  init(integerLiteral value: Int) { self = .number(value) }
  init(floatLiteral value: Double) { self = .real(value) }
  init(arrayLiteral values: JSON...) { self = .list(values) }
  init(dictionaryLiteral pairs: (String, JSON)...) {
    self = .object(Dictionary(pairs, uniquingKeysWith: { _, last in last }))
  }
}
