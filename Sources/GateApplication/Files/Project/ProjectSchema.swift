import GateCore

/// The JSON Schema of a project file, from the same tables with which it is read.
///
/// Draft 7, which editors know. It holds what one value tells; what several must agree on, `validate` tells.
enum ProjectSchema {
  /// Where the Debian package has it.
  static let installedPath = "/usr/share/highwater/highwater.schema.json"

  /// The schema as a JSON text.
  static var text: String {
    var definitions: [String: SchemaNode] = [:]
    let root = node(of: ProjectKeys.table, isFilled: false, &definitions)
    guard case .object(var fields) = root else { return "" }
    fields["$schema"] = .text("http://json-schema.org/draft-07/schema#")
    fields["title"] = .text("Project file of Highwater")
    fields["definitions"] = .object(definitions)
    return String(decoding: JSON.encode(SchemaNode.object(fields), .pretty), as: UTF8.self)
  }

  /// A mapping; `isFilled` where the values of a matrix are inserted, so that a text may become a number.
  private static func node(
    of table: KeyTable, isFilled: Bool, _ definitions: inout [String: SchemaNode]
  ) -> SchemaNode {
    var properties: [String: SchemaNode] = [:]
    for row in table.rows {
      let isScenario = ["defaults", "scenarios"].contains(row.name)
      properties[row.name] = described(row, node(of: row.shape, isFilled: isFilled || isScenario, &definitions))
    }
    var fields: [String: SchemaNode] = [
      "type": .text("object"), "properties": .object(properties), "additionalProperties": .bool(false),
    ]
    if !table.required.isEmpty { fields["required"] = .list(table.required.map(SchemaNode.text)) }
    if !table.only.isEmpty {
      fields["oneOf"] = .list(table.only.map { .object(["required": .list([.text($0)])]) })
    }
    return .object(fields)
  }

  /// What an editor shows beside a key.
  private static func described(_ row: KeyRow, _ node: SchemaNode) -> SchemaNode {
    let standard = row.standard.flatMap { $0 == "–" ? nil : "default: \($0)" }
    let parts = [row.meaning, standard, "example: `\(row.example)`"].compactMap(\.self)
    let text = SchemaNode.text(plain(parts.joined(separator: "\n")))
    // Keys beside a reference have no effect in this draft.
    if case .object(var fields) = node, fields["$ref"] == nil {
      fields["description"] = text
      return .object(fields)
    }
    return .object(["allOf": .list([node]), "description": text])
  }

  /// The text without the addresses of its links.
  private static func plain(_ markdown: String) -> String {
    markdown.replacing(#/\[([^\]]+)\]\([^)]+\)/#) { "\($0.1)" }
  }

  private static func node(
    of shape: ValueShape, isFilled: Bool, _ definitions: inout [String: SchemaNode]
  ) -> SchemaNode {
    switch shape {
    case .text: return .object(["type": .list(["string", "number", "boolean"].map(SchemaNode.text))])
    case .null: return .object(["type": .text("null")])
    case .pattern(let pattern):
      return orFilled(["type": .text("string"), "pattern": .text(pattern)], isFilled)
    case .integer(let range):
      return orFilled(
        ["type": .text("integer"), "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)],
        isFilled)
    case .count: return orFilled(["type": .text("number"), "minimum": .number(0)], isFilled)
    case .words(let words): return orFilled(["enum": .list(words.flatMap(spellings))], isFilled)
    case .list(let item, let isShort):
      let node = node(of: item, isFilled: isFilled, &definitions)
      let list = SchemaNode.object(["type": .text("array"), "items": node])
      return isShort ? .object(["anyOf": .list([list, node])]) : list
    case .map(let values):
      var patterns: [String: SchemaNode] = isFilled ? ["[{][{]": .object([:])] : [:]
      for (keys, value) in values { patterns[keys] = node(of: value, isFilled: isFilled, &definitions) }
      return .object([
        "type": .text("object"), "additionalProperties": .bool(false), "patternProperties": .object(patterns),
      ])
    case .mapping(let table): return reference(to: table(), isFilled: isFilled, &definitions)
    case .any(let shapes):
      return .object(["anyOf": .list(shapes.map { node(of: $0, isFilled: isFilled, &definitions) })])
    }
  }

  private static func reference(
    to table: KeyTable, isFilled: Bool, _ definitions: inout [String: SchemaNode]
  ) -> SchemaNode {
    if definitions[table.name] == nil {
      // The name is taken first, since steps contain steps.
      definitions[table.name] = .object([:])
      definitions[table.name] = node(of: table, isFilled: isFilled, &definitions)
    }
    let reference = SchemaNode.object(["$ref": .text("#/definitions/\(table.name)")])
    let short = table.short.flatMap { key in table.rows.first { $0.name == key } }
    guard let short else { return reference }
    return .object(["anyOf": .list([reference, node(of: short.shape, isFilled: isFilled, &definitions)])])
  }

  /// A value, or a text that a matrix fills in.
  private static func orFilled(_ fields: [String: SchemaNode], _ isFilled: Bool) -> SchemaNode {
    guard isFilled else { return .object(fields) }
    let filled = SchemaNode.object(["type": .text("string"), "pattern": .text("[{][{]")])
    return .object(["anyOf": .list([.object(fields), filled])])
  }

  /// `true` is a word for the reader, and another type in JSON.
  private static func spellings(of word: String) -> [SchemaNode] {
    ["true", "false"].contains(word) ? [.bool(word == "true"), .text(word)] : [.text(word)]
  }
}

/// A part of a JSON document.
private indirect enum SchemaNode: Encodable {
  case object([String: SchemaNode])
  case list([SchemaNode])
  case text(String)
  case number(Int)
  case bool(Bool)

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .object(let fields): try container.encode(fields)
    case .list(let items): try container.encode(items)
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .bool(let bool): try container.encode(bool)
    }
  }
}
