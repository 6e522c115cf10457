import GateCore

/// A YAML value with its location, without anchors, tags and the parser's types.
struct YAMLValue: Sendable {
  enum Style: Sendable, Equatable {
    case plain, quoted
    /// A string with a value of a matrix inserted; it may be parsed as a number, but never as null.
    case filled
  }

  enum Content: Sendable {
    case scalar(String, Style)
    case sequence([YAMLValue])
    case mapping([Entry])
  }

  struct Entry: Sendable {
    var key: Key
    var value: YAMLValue
  }

  struct Key: Sendable {
    var text: String
    var place: SourcePlace
  }

  let place: SourcePlace
  let content: Content
  /// The cost of reading it: the number of values in it, plus one for each 64 bytes of text.
  let weight: Int

  init(_ content: Content, at place: SourcePlace) {
    self.place = place
    self.content = content
    switch content {
    case .scalar(let text, _): weight = 1 + text.utf8.count / 64
    case .sequence(let items): weight = items.reduce(1) { $0 + $1.weight }
    case .mapping(let entries): weight = entries.reduce(1) { $0 + 1 + $1.key.text.utf8.count / 64 + $1.value.weight }
    }
  }

  /// Whether the value is YAML's null: nothing at all, `~`, or `null` without quotes (YAML 1.2.2, section 10.3.2).
  var isNull: Bool {
    guard case .scalar(let text, .plain) = content else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(text)
  }

  /// The text of a scalar other than null.
  var scalar: String? {
    guard case .scalar(let text, _) = content, !isNull else { return nil }
    return text
  }

  /// Whether the value is a string in quotes, which is not a number.
  var isQuoted: Bool {
    guard case .scalar(_, .quoted) = content else { return false }
    return true
  }

  /// Whether a string in it may contain `{{axis}}`.
  var hasPlaceholder: Bool { contains(MatrixExpansion.hasPlaceholder) }

  /// Whether a string in it contains the placeholder of this axis.
  func contains(placeholder axis: String) -> Bool {
    contains { $0.filter { $0 != " " }.contains("{{\(axis)}}") }
  }

  /// Whether this is true of a string or a key in it.
  private func contains(_ isWanted: (String) -> Bool) -> Bool {
    switch content {
    case .scalar(let text, _): isWanted(text)
    case .sequence(let items): items.contains { $0.contains(isWanted) }
    case .mapping(let entries): entries.contains { isWanted($0.key.text) || $0.value.contains(isWanted) }
    }
  }

  /// The value in messages about an unexpected value.
  var found: String {
    switch content {
    case .scalar(_, .quoted): "the string `\(Shown.text(scalar ?? ""))`"
    case .scalar(let text, _): isNull ? "null" : "`\(Shown.text(text))`"
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}
