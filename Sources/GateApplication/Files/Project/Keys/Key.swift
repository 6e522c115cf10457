import GateCore

/// A key of the project file with the type of its value: one row for what people, editors and the reader know of it.
struct Key<Value>: Sendable {
  let row: KeyRow
  private let form: ValueForm<Value>

  /// - Parameters:
  ///   - name: The key.
  ///   - form: How its value is written and read.
  ///   - meaning: What it means, in Markdown; a column of `project-file.md`.
  ///   - standard: What holds without it, in Markdown; nil where it is required.
  ///   - example: The key with a value, in YAML; also in hints.
  init(_ name: String, _ form: ValueForm<Value>, _ meaning: String, standard: String? = "none", example: String) {
    row = KeyRow(name: name, meaning: meaning, standard: standard, example: example, shape: form.shape)
    self.form = form
  }

  /// The value; nil, with a diagnostic, if it is invalid.
  func read(_ value: YAMLValue, in context: ReadingContext) -> Value? {
    form.read(value, row, context)
  }
}

/// What is known of a key without the type of its value.
struct KeyRow: Sendable {
  let name: String
  let meaning: String
  let standard: String?
  let example: String
  let shape: ValueShape
}

/// How a value is written, and the function that reads it, with the key for messages.
struct ValueForm<Value>: Sendable {
  let shape: ValueShape
  let read: @Sendable (YAMLValue, KeyRow, ReadingContext) -> Value?

  init(_ shape: ValueShape, _ read: @escaping @Sendable (YAMLValue, KeyRow, ReadingContext) -> Value?) {
    (self.shape, self.read) = (shape, read)
  }

  /// The same in another type.
  func map<Other>(_ transform: @escaping @Sendable (Value) -> Other?) -> ValueForm<Other> {
    .init(shape) { value, row, context in read(value, row, context).flatMap(transform) }
  }
}

/// The mapping that a key of the project file has as its value, or the whole file.
struct KeyTable: Sendable {
  /// The name in the schema.
  let name: String
  /// What has the keys, in messages, as in "no scenario has the key `x`".
  let owner: String
  /// In the order of the documentation.
  let rows: [KeyRow]
  /// The key of a value that is not a mapping, as in `settle: 5s` for `settle: {within: 5s}`.
  let short: String?
  /// Of these keys a mapping has exactly one.
  let only: [String]
  let example: String

  init(
    _ name: String, of owner: String, _ rows: [KeyRow], short: String? = nil, only: [String] = [], example: String
  ) {
    (self.name, self.owner, self.rows, self.short, self.only, self.example) = (name, owner, rows, short, only, example)
  }

  var keys: [String] { rows.map(\.name) }
  /// Those that a mapping must have.
  var required: [String] { rows.filter { $0.standard == nil }.map(\.name) }
}

/// How a value may be written: what an editor can check.
indirect enum ValueShape: Sendable {
  /// Any text, number or word.
  case text
  /// A text that matches a regular expression (of ECMA-262, without anchors of lines).
  case pattern(String)
  case integer(ClosedRange<Int>)
  /// A number of at least 0.
  case count
  case words([String])
  case null
  /// A list; a single value stands for a list of one if `isShort`.
  case list(ValueShape, isShort: Bool)
  /// A mapping whose keys each match an expression, with the shape of their values.
  case map([String: ValueShape])
  /// A function, since steps contain steps.
  case mapping(@Sendable () -> KeyTable)
  case any([ValueShape])

  var acceptsNull: Bool {
    switch self {
    case .null: true
    case .any(let shapes): shapes.contains(where: \.acceptsNull)
    default: false
    }
  }
}
