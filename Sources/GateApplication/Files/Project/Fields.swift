import GateCore

/// The keys of a mapping, checked against the known keys.
struct Fields {
  let place: SourcePlace
  /// In file order.
  let entries: [YAMLValue.Entry]
  private let values: [String: YAMLValue]
  /// The known keys that occur, including those with invalid values.
  private let mentioned: Set<String>

  let context: ReadingContext
  private let table: KeyTable

  /// Reads a mapping, and reports keys that are unknown, duplicate, or without a value.
  ///
  /// nil, with a diagnostic, if the value is not a mapping.
  init?(_ value: YAMLValue, of table: KeyTable, in context: ReadingContext) {
    guard let all = Self.entries(of: value, short: table.short) else {
      context.printError(
        "\(table.owner) must be a mapping, not \(value.found)", at: value.place, hint: "such as `\(table.example)`")
      return nil
    }
    var (entries, values): ([YAMLValue.Entry], [String: YAMLValue]) = ([], [:])
    for entry in all {
      let key = entry.key.text
      guard let row = table.rows.first(where: { $0.name == key }) else {
        Self.reportUnknown(entry.key, of: table, in: context)
        continue
      }
      if values[key] != nil {
        context.printError(
          "duplicate key `\(key)`", at: entry.key.place, hint: "remove one of them")
      } else if entry.value.isNull, !row.shape.acceptsNull {
        context.printError(
          "the key `\(key)` has no value", at: entry.key.place,
          hint: "write one, such as `\(row.example)`, or remove the key")
      } else {
        entries.append(entry)
        values[key] = entry.value
      }
    }
    mentioned = Set(all.map(\.key.text)).intersection(table.keys)
    (self.place, self.entries, self.values) = (value.place, entries, values)
    (self.table, self.context, isEmpty) = (table, context, all.isEmpty)
  }

  private static func entries(of value: YAMLValue, short: String?) -> [YAMLValue.Entry]? {
    if case .mapping(let entries) = value.content { return entries }
    return short.map { [YAMLValue.Entry(key: .init(text: $0, place: value.place), value: value)] }
  }

  /// Whether the mapping has no key at all.
  let isEmpty: Bool

  subscript(key: String) -> YAMLValue? { values[key] }

  /// Whether the key occurs, even if its value is invalid.
  func mentions(_ key: String) -> Bool { mentioned.contains(key) }

  /// The location of the key, for diagnostics of the key itself.
  func place(of key: String) -> SourcePlace {
    entries.first { $0.key.text == key }?.key.place ?? place
  }

  /// The value of a key; nil if it does not occur or is invalid.
  func value<Value>(of key: Key<Value>) -> Value? {
    values[key.row.name].flatMap { key.read($0, in: context) }
  }

  /// Reads a key into its destination, if it occurs and its value is valid.
  func take<Value>(_ key: Key<Value>, into destination: inout Value) {
    if let value = value(of: key) { destination = value }
  }

  func take<Value>(_ key: Key<Value>, into destination: inout Value?) {
    if let value = value(of: key) { destination = value }
  }

  /// The one of the keys that exclude each other; reports if there is none, or more than one.
  func only() -> YAMLValue.Entry? {
    let (keys, owner) = (table.only, table.owner)
    let present = entries.filter { keys.contains($0.key.text) }
    if present.count > 1 {
      context.printError(
        "\(owner) has \(Shown.list(present.map(\.key.text))), but only one of them is allowed",
        at: present[1].key.place
      )
    }
    if present.isEmpty, mentioned.isDisjoint(with: keys) {
      context.printError("\(owner) needs \(keys.count > 1 ? "one of " : "")\(Shown.list(keys))", at: place)
    }
    return present.count == 1 ? present.first : nil
  }

  private static func reportUnknown(_ key: YAMLValue.Key, of table: KeyTable, in context: ReadingContext) {
    let nearest = context.findings.isFull ? nil : NearMiss.closest(to: key.text, among: table.keys)
    let hint =
      if key.text == "<<" {
        "merge keys are not part of YAML 1.2; `defaults:` shares what scenarios have in common"
      } else {
        nearest.map { "did you mean `\($0)`?" } ?? "its keys are \(Shown.list(table.keys))"
      }
    context.printError("no \(noun(of: table.owner)) has the key `\(Shown.text(key.text))`", at: key.place, hint: hint)
  }

  /// The owner without its article: "a scenario" is "scenario".
  private static func noun(of owner: String) -> String {
    for article in ["a ", "an ", "the "] where owner.hasPrefix(article) {
      return String(owner.dropFirst(article.count))
    }
    return owner
  }
}
