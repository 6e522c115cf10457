import GateCore

/// The keys of a mapping, checked against the known keys.
struct Fields {
  let place: SourcePlace
  /// In file order.
  let entries: [YAMLValue.Entry]
  private let values: [String: YAMLValue]
  /// The known keys that occur, including those with invalid values.
  private let mentioned: Set<String>

  /// Reads a mapping, and reports keys that are unknown, duplicate, or without a value.
  ///
  /// nil, with a diagnostic, if the value is not a mapping. `owner` describes the mapping, as in "no scenario has the
  /// key `x`"; for the `nullable` keys YAML's null has a meaning. A value that is not a mapping is that of the key
  /// `short`, as in `settle: 5s` for `settle: {within: 5s}`.
  init?(
    _ value: YAMLValue,
    of owner: String,
    known: [String],
    nullable: Set<String> = [],
    short: String? = nil,
    example: String,
    in context: ReadingContext
  ) {
    guard let all = Self.entries(of: value, short: short) else {
      context.printError(
        "\(owner) must be a mapping, not \(value.found)", at: value.place, hint: "such as `\(example)`")
      return nil
    }
    var (entries, values): ([YAMLValue.Entry], [String: YAMLValue]) = ([], [:])
    for entry in all {
      let key = entry.key.text
      if !known.contains(key) {
        Self.reportUnknown(entry.key, of: owner, known: known, in: context)
      } else if values[key] != nil {
        context.printError(
          "duplicate key `\(key)`", at: entry.key.place, hint: "remove one of them")
      } else if entry.value.isNull, !nullable.contains(key) {
        context.printError("the key `\(key)` has no value", at: entry.key.place, hint: "write one, or remove the key")
      } else {
        entries.append(entry)
        values[key] = entry.value
      }
    }
    mentioned = Set(all.map(\.key.text)).intersection(known)
    (self.place, self.entries, self.values) = (value.place, entries, values)
  }

  private static func entries(of value: YAMLValue, short: String?) -> [YAMLValue.Entry]? {
    if case .mapping(let entries) = value.content { return entries }
    return short.map { [YAMLValue.Entry(key: .init(text: $0, place: value.place), value: value)] }
  }

  subscript(key: String) -> YAMLValue? { values[key] }

  /// Whether the key occurs, even if its value is invalid.
  func mentions(_ key: String) -> Bool { mentioned.contains(key) }

  /// The location of the key, for diagnostics of the key itself.
  func place(of key: String) -> SourcePlace {
    entries.first { $0.key.text == key }?.key.place ?? place
  }

  /// Reads a key into its destination, if it occurs and its value is valid.
  func take<Value>(_ key: String, into destination: inout Value, _ read: (YAMLValue) -> Value?) {
    if let value = values[key], let read = read(value) { destination = read }
  }

  /// The only one of these keys that occurs; reports if there is none, or more than one.
  func only(of keys: [String], for owner: String, in context: ReadingContext) -> YAMLValue.Entry? {
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

  private static func reportUnknown(
    _ key: YAMLValue.Key,
    of owner: String,
    known: [String],
    in context: ReadingContext
  ) {
    let nearest = context.findings.isFull ? nil : NearMiss.closest(to: key.text, among: known)
    let hint =
      if key.text == "<<" {
        "merge keys are not part of YAML 1.2; `defaults:` shares what scenarios have in common"
      } else {
        nearest.map { "did you mean `\($0)`?" } ?? "its keys are \(Shown.list(known))"
      }
    context.printError("no \(noun(of: owner)) has the key `\(Shown.text(key.text))`", at: key.place, hint: hint)
  }

  /// The owner without its article: "a scenario" is "scenario".
  private static func noun(of owner: String) -> String {
    for article in ["a ", "an ", "the "] where owner.hasPrefix(article) {
      return String(owner.dropFirst(article.count))
    }
    return owner
  }
}
