import GateCore
private import Yams

/// A YAML file as values with locations; the only file that uses the YAML parser.
///
/// The parser copies the value of each alias, so that nine lines can expand to a billion values ("billion laughs").
/// Nothing here hashes, compares or prints one of its nodes, and the walk over them is bounded.
enum YAMLDocument {
  /// The maximum number of values in a file after its aliases are expanded.
  ///
  /// A scenario of 20 lines has about 60, so 1,000 of them stay far below; a YAML bomb is detected in a tenth of a
  /// second.
  static let mostValues = 200_000

  /// The maximum nesting of values; eight nested `repeat` need 23 levels.
  static let mostLevels = 64

  /// No single string needs more; a larger input belongs in a file of its own.
  static let mostTextBytes = 256 << 10

  /// Parses a text; nil if it has only spaces and comments; `name` is the file's name in locations.
  static func parse(_ text: String, name: String) throws(ProjectError) -> YAMLValue? {
    if let disarmed = AliasText.disarmed(text) {
      // The parser hashes keys, and hashing an alias of a YAML bomb would not end.
      let root = try compose(disarmed, name: name)
      try root.map { node throws(ProjectError) in try AliasKeys(text: text, file: name).check(node, level: 0) }
    }
    guard let root = try compose(text, name: name) else { return nil }
    var walk = Walk(file: name)
    return try walk.value(of: root, level: 0)
  }

  /// Composes without the rules that guess types: they use 40 regular expressions, and `on` would be a boolean.
  private static func compose(_ text: String, name: String) throws(ProjectError) -> Node? {
    do {
      return try Yams.compose(yaml: text, .basic, .default, .utf8)
    } catch let error as YamlError {
      throw ProjectError(SyntaxFault(text: text, file: name).diagnostic(for: error))
    } catch {
      throw ProjectError(Diagnostic(place: name, problem: "cannot be read as YAML: \(error)"))
    }
  }

  fileprivate static func tooDeep(at place: String) -> ProjectError {
    ProjectError(Diagnostic(place: place, problem: "values are nested deeper than \(mostLevels) levels"))
  }

  fileprivate static func badKey(at place: String) -> ProjectError {
    ProjectError(
      Diagnostic(
        place: place, problem: "a key must be a plain string, not a list, a mapping or an alias",
        hint: "a text that starts with `{{` needs quotes"))
  }
}

/// Converts the parser's nodes into values, within limits.
private struct Walk {
  let file: String
  private var visited = 0
  /// The location of the current key of the root: the best location to report for a YAML bomb.
  private var branch: SourcePlace?

  init(file: String) {
    self.file = file
  }

  mutating func value(of node: Node, level: Int) throws(ProjectError) -> YAMLValue {
    let place = place(of: node)
    visited += 1
    guard visited <= YAMLDocument.mostValues else {
      let problem = "the file has more than \(YAMLDocument.mostValues) values after its aliases are expanded"
      throw ProjectError(
        Diagnostic(place: (branch ?? place).description, problem: problem, hint: "split it, or use fewer aliases")
      )
    }
    guard level <= YAMLDocument.mostLevels else { throw YAMLDocument.tooDeep(at: place.description) }
    switch node {
    case .scalar(let scalar):
      return YAMLValue(try content(of: scalar, at: place), at: place)
    case .sequence(let sequence):
      try refuseTag(sequence.tag, at: place)
      var items: [YAMLValue] = []
      for item in sequence { items.append(try value(of: item, level: level + 1)) }
      return YAMLValue(.sequence(items), at: place)
    case .mapping(let mapping):
      try refuseTag(mapping.tag, at: place)
      return YAMLValue(.mapping(try entries(of: mapping, level: level)), at: place)
    case .alias:
      preconditionFailure("the parser replaces aliases by their values by default")
    }
  }

  private mutating func entries(of mapping: Node.Mapping, level: Int) throws(ProjectError) -> [YAMLValue.Entry] {
    var entries: [YAMLValue.Entry] = []
    for (key, value) in mapping {
      let place = place(of: key)
      if level == 0 { branch = place }
      guard case .scalar(let scalar) = key else { throw YAMLDocument.badKey(at: place.description) }
      guard case .scalar(let text, _) = try content(of: scalar, at: place) else { continue }
      entries.append(
        YAMLValue.Entry(key: .init(text: text, place: place), value: try self.value(of: value, level: level + 1))
      )
    }
    return entries
  }

  private func content(of scalar: Node.Scalar, at place: SourcePlace) throws(ProjectError) -> YAMLValue.Content {
    try refuseTag(scalar.tag, at: place)
    guard scalar.string.utf8.count <= YAMLDocument.mostTextBytes else {
      throw ProjectError(
        Diagnostic(
          place: place.description,
          problem: "this string is longer than 256 KiB",
          hint: "put it into its own file; the target's input can be `stdin: {file: path}`"
        )
      )
    }
    let isPlain = scalar.style == .plain && scalar.tag.rawValue != "tag:yaml.org,2002:str"
    return .scalar(scalar.string, isPlain ? .plain : .quoted)
  }

  /// Accepts the core tags, which have no effect, and rejects any other.
  private func refuseTag(_ tag: Tag, at place: SourcePlace) throws(ProjectError) {
    let core = ["str", "int", "float", "bool", "null", "seq", "map"].map { "tag:yaml.org,2002:\($0)" }
    guard !tag.rawValue.isEmpty, tag.rawValue != "!", !core.contains(tag.rawValue) else { return }
    throw ProjectError(
      Diagnostic(
        place: place.description,
        problem: "the tag `\(Shown.text(tag.rawValue))` is not supported in a project file",
        hint: "a text that starts with `!` needs quotes"
      )
    )
  }

  private func place(of node: Node) -> SourcePlace {
    SourcePlace(file: file, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
  }
}

/// Checks in a disarmed text that no key is a collection or an alias.
private struct AliasKeys {
  let file: String
  private let lines: [Substring.UnicodeScalarView]

  init(text: String, file: String) {
    self.file = file
    // The line breaks of libyaml (`IS_BREAK` in yaml_private.h).
    lines = text.replacing("\r\n", with: "\n").unicodeScalars
      .split(omittingEmptySubsequences: false) { ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains($0) }
      .map { Substring($0).unicodeScalars }
  }

  func check(_ node: Node, level: Int) throws(ProjectError) {
    guard level <= YAMLDocument.mostLevels else { throw YAMLDocument.tooDeep(at: place(of: node)) }
    switch node {
    case .scalar, .alias:
      return
    case .sequence(let items):
      for item in items { try check(item, level: level + 1) }
    case .mapping(let mapping):
      for (key, value) in mapping {
        guard case .scalar(let scalar) = key, !wasAlias(scalar) else {
          throw YAMLDocument.badKey(at: place(of: key))
        }
        try check(value, level: level + 1)
      }
    }
  }

  private func wasAlias(_ scalar: Node.Scalar) -> Bool {
    guard scalar.style == .plain, scalar.string.hasPrefix("_") else { return false }
    // Without a location, assume an alias.
    guard let mark = scalar.mark, mark.line <= lines.count else { return true }
    return lines[mark.line - 1].dropFirst(mark.column - 1).first == "*"
  }

  private func place(of node: Node) -> String {
    "\(file):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1)"
  }
}

/// A YAML syntax error and its message.
private struct SyntaxFault {
  let text: String
  let file: String

  func diagnostic(for error: YamlError) -> Diagnostic {
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      return Diagnostic(
        place: "\(file):\(mark.line):\(mark.column)",
        problem: words(for: problem, context: context),
        hint: hint(for: problem, context: context, line: mark.line)
      )
    case .duplicatedKeysInMapping(let keys, let context):
      let list = Shown.list(keys.sorted().prefix(10).map { Shown.text($0) })
      let line = keys.min().flatMap { secondLine(of: $0, from: context) } ?? context.mark.line
      return Diagnostic(
        place: "\(file):\(line):\(context.mark.column)",
        problem: keys.count == 1
          ? "duplicate key \(list)" : "duplicate keys \(list)",
        hint: "remove one of them"
      )
    case .reader(let problem, let offset, _, _):
      let lines = text.prefix(offset ?? 0).split(omittingEmptySubsequences: false) { $0.isNewline }
      let place = "\(file):\(lines.count):\((lines.last?.count ?? 0) + 1)"
      return Diagnostic(place: place, problem: "invalid YAML: \(problem)")
    default:
      return Diagnostic(place: file, problem: "cannot be read as YAML: \(error)")
    }
  }

  /// The line where a key of a mapping in block style occurs again; nil for a mapping in braces.
  private func secondLine(of key: String, from first: YamlError.Context) -> Int? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().dropFirst(first.mark.line)
    let second = lines.first { _, line in
      let words = line.dropFirst(first.mark.column - 1)
      return ["", "\"", "'"].contains { words.hasPrefix($0 + key + $0 + ":") }
    }
    return second.map { $0.offset + 1 }
  }

  private func words(for problem: String, context: YamlError.Context?) -> String {
    if problem.hasPrefix("Maximum nesting level") {
      return "values are nested deeper than \(YAMLDocument.mostLevels) levels"
    }
    if problem == "but found another document" { return "the file contains a second document" }
    guard let context else { return "invalid YAML: \(problem)" }
    return "invalid YAML: \(problem) \(context.text)"
  }

  private func hint(for problem: String, context: YamlError.Context?, line: Int) -> String? {
    let lines = text.split(separator: "\n", maxSplits: line, omittingEmptySubsequences: false)
    if line <= lines.count, lines[line - 1].prefix(while: { $0 == " " || $0 == "\t" }).contains("\t") {
      return "indent with spaces: YAML does not allow tabs"
    }
    return switch problem {
    case "found undefined alias", "did not find expected alphabetic or numeric character":
      "a text that starts with `*` or `&` needs quotes"
    case "but found another document": "remove the line `---` before it"
    case "mapping values are not allowed in this context": "a text with `: ` in it needs quotes"
    case "found character that cannot start any token": "a text that starts with `%`, `@` or a backtick needs quotes"
    default:
      context.flatMap { $0.mark.line == line ? nil : "it starts at line \($0.mark.line), column \($0.mark.column)" }
    }
  }
}

/// A text whose aliases are replaced by plain words of the same length, so that it can be composed without them.
private enum AliasText {
  /// The text with `_` for the `*` of anything that may be an alias; nil if it has no aliases.
  ///
  /// This also changes `*` in quotes, comments and shell lines: only the structure of the result is used.
  static func disarmed(_ text: String) -> String? {
    var bytes = Array(text.utf8)
    guard bytes.contains(UInt8(ascii: "&")) else { return nil }
    var changed = false
    for index in bytes.indices.dropLast()
    where bytes[index] == UInt8(ascii: "*") && isNameByte(bytes[index + 1]) {
      bytes[index] = UInt8(ascii: "_")
      changed = true
    }
    return changed ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// The characters that libyaml accepts in an anchor's name (`IS_ALPHA` in yaml_private.h).
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
