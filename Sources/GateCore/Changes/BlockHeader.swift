/// What a pair of braces is, by the text before it.
enum BlockHeader: Equatable {
  case function(String)
  /// A type that may have fields.
  case type(String)
  /// Another type or module around functions.
  case scope(String)
  case plain
  /// The braces are a part of the text before a body.
  case unfinished

  private static let types: Set<String> = ["class", "struct", "enum", "union", "actor", "object", "record"]
  private static let scopes: Set<String> = [
    "interface", "namespace", "impl", "trait", "mod", "extension", "protocol",
  ]
  fileprivate static let functionWords: Set<String> = ["fn", "func", "fun", "function", "def"]
  fileprivate static let initializers: Set<String> = ["init", "deinit", "subscript"]
  /// Names before parentheses that are not functions.
  private static let statements: Set<String> = [
    "if", "for", "while", "switch", "catch", "return", "else", "do", "try", "using", "lock", "synchronized", "foreach",
    "with", "new", "await", "typeof", "sizeof",
  ]
  private static let attributes: Set<String> = [
    "noexcept", "__attribute__", "__declspec", "requires", "throw", "decltype", "alignas", "explicit",
  ]
  private static let modifiers: Set<String> = [
    "async", "static", "get", "set", "public", "private", "protected", "readonly", "override", "export", "default",
    "abstract",
  ]

  /// - Parameters:
  ///   - bytes: The text since the last statement or brace.
  ///   - language: Of the file.
  ///   - parentheses: How many of them are open.
  ///   - isInFunction: Whether the braces are in the body of a function.
  init(_ bytes: [UInt8], _ language: SourceLanguage, parentheses: Int, isInFunction: Bool) {
    let text = HeaderText(bytes)
    if language == .javaScript {
      self = Self.script(text, isInParentheses: parentheses > 0)
    } else if parentheses > 0 {
      self = .unfinished
    } else if let type = Self.type(text, language) {
      self = type
    } else if language == .keyword {
      self = Self.keyword(text)
    } else {
      self = isInFunction ? .plain : Self.plainC(text)
    }
  }

  private static func type(_ text: HeaderText, _ language: SourceLanguage) -> BlockHeader? {
    let (words, calls) = (text.outerWords, text.calls)
    // `fn record(&mut self) {` is a function.
    let found = words.firstIndex { (types.contains($0) || scopes.contains($0)) && !calls.contains($0) }
    guard let at = found else { return nil }
    // `struct entry *find(int key) {` is a function.
    if calls.contains(where: { !attributes.contains($0) }) && !["class", "record", "object"].contains(words[at]) {
      return nil
    }
    // In Go the name comes first, as in `type Entry struct {`.
    let isNamedBefore = language == .keyword && at >= 2 && words[at - 2] == "type"
    let end = isNamedBefore ? at - 1 : words.firstIndex(of: "for").map { $0 + 1 } ?? at + 1
    let name = end < words.count ? words[end] : ""
    return types.contains(words[at]) ? .type(name) : .scope(name)
  }

  /// The last line with a word such as `fn` counts, since others may precede it without a semicolon.
  private static func keyword(_ text: HeaderText) -> BlockHeader {
    guard let line = text.declaration(.keyword) else { return .plain }
    let (words, calls) = (line.outerWords, line.calls)
    guard let at = words.firstIndex(where: functionWords.contains) else {
      return words.first(where: initializers.contains).map { .function($0) } ?? .plain
    }
    let name = at + 1 < words.count ? words[at + 1] : ""
    return .function(calls.contains(name) ? name : "")
  }

  private static func plainC(_ text: HeaderText) -> BlockHeader {
    let (declaration, hasInitializers) = text.withoutInitializers
    if hasInitializers, text.endsInName { return .unfinished }
    guard !declaration.isAssignment else { return .plain }
    for line in declaration.lines.reversed() {
      guard let name = line.calls.first(where: { !attributes.contains($0) }) else { continue }
      return statements.contains(name) || line.outerWords.contains("new") ? .plain : .function(name)
    }
    return .plain
  }

  private static func script(_ text: HeaderText, isInParentheses: Bool) -> BlockHeader {
    guard let line = (isInParentheses ? text.inParentheses : text).lines.last else { return .unfinished }
    let words = line.outerWords
    if let at = words.firstIndex(of: "function") {
      let own = at + 1 < words.count ? words[at + 1] : nil
      return .function(own ?? (isInParentheses ? "" : line.assignedName))
    }
    if line.endsInArrow { return .function(isInParentheses ? "" : line.assignedName) }
    if isInParentheses { return .unfinished }
    if let at = words.firstIndex(of: "class") { return .type(at + 1 < words.count ? words[at + 1] : "") }
    // Methods may have such names, as in `set(key, value) {`.
    let name = words.first { !modifiers.contains($0) } ?? words.last
    guard let name, line.calls.first == name, !statements.contains(name) else { return .plain }
    return .function(name)
  }
}

/// The text before a brace.
struct HeaderText {
  /// Stands for the end of a line within parentheses.
  static let innerLineEnd = UInt8(ascii: "\u{b}")

  private let bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    self.bytes = bytes[...]
  }

  private init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  /// The lines that are not blank.
  var lines: [HeaderText] {
    bytes.split(separator: UInt8(ascii: "\n")).filter { !$0.allSatisfy(\.isBlank) }.map { HeaderText($0) }
  }

  /// The last line that may begin a block; in Rust and the like, that with a word such as `fn`, if there is one.
  func declaration(_ language: SourceLanguage) -> HeaderText? {
    let words = BlockHeader.functionWords.union(BlockHeader.initializers)
    let named = language == .keyword ? lines.last { $0.outerWords.contains(where: words.contains) } : nil
    return (named ?? lines.last).map { HeaderText(bytes[$0.bytes.startIndex...]) }
  }

  var lineEnds: Int { bytes.count { $0 == UInt8(ascii: "\n") || $0 == Self.innerLineEnd } }

  /// What follows the last parenthesis that is not closed.
  var inParentheses: HeaderText {
    var depth = 0
    let open = bytes.lastIndex { byte in
      if ")]".utf8.contains(byte) { depth += 1 }
      if "([".utf8.contains(byte) { depth -= 1 }
      return depth < 0
    }
    return HeaderText(bytes[(open.map { $0 + 1 } ?? bytes.startIndex)...])
  }

  /// Whether a colon after it ends a label such as `public:`.
  var isLabel: Bool {
    let words = outerWords
    return words.count == 1 && ["public", "private", "protected", "signals", "default"].contains(words[0])
  }

  /// The names outside of brackets.
  var outerWords: [String] { names().words }

  /// The types and modules before a function's name, as `cache` and `Table` of `void cache::Table<K>::grow(int by)`.
  func scopes(of name: String) -> [String] {
    let place = bytes.ranges(of: "::\(name)".utf8).first { bytes[$0.upperBound...].first?.isOfName != true }
    guard let place else { return [] }
    let before = QualifiedName.withoutArguments(String(decoding: bytes[..<place.lowerBound], as: UTF8.self))
    let path = before.replacing("<>", with: "").utf8.reversed().prefix { $0.isOfName || $0 == UInt8(ascii: ":") }
    return path.reversed().split(separator: UInt8(ascii: ":")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The names before opening parentheses outside of others.
  var calls: [String] { names().calls }

  private func names() -> (words: [String], calls: [String]) {
    var (words, calls, word): ([String], [String], [UInt8]) = ([], [], [])
    var (depth, angles, last) = (0, 0, "")
    for byte in bytes + [UInt8(ascii: " ")] {
      if byte.isOfName || byte == UInt8(ascii: "~") {
        word.append(byte)
        continue
      }
      let text = String(decoding: word, as: UTF8.self)
      if !word.isEmpty, depth == 0, angles == 0 {
        words.append(text)
        last = text
      }
      word = []
      switch byte {
      case UInt8(ascii: "(") where depth == 0 && angles == 0:
        if !last.isEmpty { calls.append(last) }
        depth = 1
      case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"):
        depth = max(0, depth - 1)
        if depth == 0 { last = "" }
      case UInt8(ascii: "<") where depth == 0 && !last.isEmpty && last != "operator": angles += 1
      case UInt8(ascii: ">"): angles = max(0, angles - 1)
      case UInt8(ascii: "="), UInt8(ascii: ","): if last != "operator" { last = "" }
      default: break
      }
    }
    return (words, calls)
  }

  /// Without the members that a constructor of C++ initializes, and whether there are some.
  var withoutInitializers: (HeaderText, Bool) {
    var (depth, before) = (0, UInt8(ascii: " "))
    for (offset, byte) in zip(bytes.indices, bytes) {
      if byte == UInt8(ascii: "(") { depth += 1 }
      if byte == UInt8(ascii: ")") { depth -= 1 }
      let isNext = offset + 1 < bytes.endIndex && bytes[offset + 1] == UInt8(ascii: ":")
      if depth == 0, byte == UInt8(ascii: ":"), before == UInt8(ascii: ")"), !isNext {
        return (HeaderText(bytes[..<offset]), true)
      }
      if !byte.isBlank && byte != UInt8(ascii: "\n") { before = byte }
    }
    return (self, false)
  }

  var endsInName: Bool { bytes.last { !$0.isBlank && $0 != UInt8(ascii: "\n") }?.isOfName ?? false }
  var endsInArrow: Bool {
    bytes.reversed().drop { $0.isBlank || $0 == UInt8(ascii: "\n") }.prefix(2).elementsEqual(">=".utf8)
  }

  /// Whether it assigns a value outside of parentheses, other than an operator's name.
  var isAssignment: Bool {
    guard let equal = bytes.firstIndex(of: UInt8(ascii: "=")) else { return false }
    let before = bytes[..<equal]
    let isOperator = outerWords.contains("operator")
    return !isOperator && before.count { $0 == UInt8(ascii: "(") } == before.count { $0 == UInt8(ascii: ")") }
  }

  /// The last name before the first `=` or `:`, as in `handle` of `exports.handle = ` and `handle: `; empty without.
  var assignedName: String {
    let end = bytes.indices.first { index in
      bytes[index] == UInt8(ascii: ":")
        || bytes[index] == UInt8(ascii: "=") && bytes[index...].dropFirst().first != UInt8(ascii: ">")
    }
    return end.flatMap { HeaderText(bytes[..<$0]).outerWords.last } ?? ""
  }
}
