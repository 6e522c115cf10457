import GateCore

/// The keys of one mapping, checked against those that exist there.
struct Fields {
  let place: SourcePlace
  /// In the order of the file.
  let entries: [YAMLValue.Entry]
  private let values: [String: YAMLValue]
  /// The known keys that stand there, those whose values are not sound too.
  private let mentioned: Set<String>

  /// Takes a mapping, and complains of keys that are unknown, twice there, or without a value.
  ///
  /// nil, with a diagnostic, where the value is no mapping. `owner` says what the mapping is, as in "no scenario has the
  /// key `x`"; for the `nullable` keys YAML's null means something.
  init?(
    _ value: YAMLValue,
    of owner: String,
    known: [String],
    nullable: Set<String> = [],
    example: String,
    in context: ReadingContext
  ) {
    guard case .mapping(let all) = value.content else {
      context.printError("\(owner) must be a mapping, not \(value.found)", at: value.place, hint: "such as `\(example)`")
      return nil
    }
    var (entries, values): ([YAMLValue.Entry], [String: YAMLValue]) = ([], [:])
    for entry in all {
      let key = entry.key.text
      if !known.contains(key) {
        Self.complainOfUnknown(entry.key, of: owner, known: known, in: context)
      } else if values[key] != nil {
        context.printError(
          "the key `\(key)` stands twice in one mapping", at: entry.key.place, hint: "remove one of them")
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

  subscript(key: String) -> YAMLValue? { values[key] }

  /// Whether the key stands there, even where its value was complained of.
  func mentions(_ key: String) -> Bool { mentioned.contains(key) }

  /// Where the key stands, for diagnostics of the key itself.
  func place(of key: String) -> SourcePlace {
    entries.first { $0.key.text == key }?.key.place ?? place
  }

  /// Reads a key into its destination, where the key is there and its value sound.
  func take<Value>(_ key: String, into destination: inout Value, _ read: (YAMLValue) -> Value?) {
    if let value = values[key], let read = read(value) { destination = read }
  }

  /// The one key of those that is there; complains where it is none, or more than one.
  func only(of keys: [String], for owner: String, in context: ReadingContext) -> YAMLValue.Entry? {
    let present = entries.filter { keys.contains($0.key.text) }
    if present.count > 1 {
      context.printError(
        "\(owner) has \(Shown.list(present.map(\.key.text))), but takes one of them only",
        at: present[1].key.place
      )
    }
    if present.isEmpty, mentioned.isDisjoint(with: keys) {
      context.printError("\(owner) needs \(keys.count > 1 ? "one of " : "")\(Shown.list(keys))", at: place)
    }
    return present.count == 1 ? present.first : nil
  }

  private static func complainOfUnknown(
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
