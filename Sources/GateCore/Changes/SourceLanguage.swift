/// How the functions of a source file are found, by the ending of its name.
package enum SourceLanguage: Sendable {
  /// Python: bodies are indented.
  case python
  /// Ruby: bodies are indented by convention, and end at `end`.
  case ruby
  /// C, C++, Java, C#: a function is a name before parentheses and braces.
  case c
  /// JavaScript and TypeScript: as in C, or a function that is given a name.
  case javaScript
  /// Rust, Go, Swift, Kotlin, PHP: a function has a word such as `fn` before its name.
  case keyword

  private static let endings: [(SourceLanguage, Set<String>)] = [
    (.python, ["py", "pyx", "pyw", "pyi"]), (.ruby, ["rb"]),
    (
      .c,
      [
        "c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tcc", "m", "mm", "cu", "cuh",
        "java",
        "cs", "d",
      ]
    ),
    (.javaScript, ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"]),
    (.keyword, ["rs", "go", "swift", "kt", "kts", "php", "scala", "zig"]),
  ]

  /// nil for a file that has no functions, or whose functions are not found.
  package init?(path: String) {
    guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
    let ending = path[path.index(after: dot)...].lowercased()
    guard let known = Self.endings.first(where: { $0.1.contains(ending) }) else { return nil }
    self = known.0
  }

  /// Whether an interpreter or a just-in-time compiler runs it, so that its files are in call stacks as scripts.
  var isScript: Bool { self == .python || self == .ruby || self == .javaScript }

  /// Whether spaces at the start of a line have a meaning.
  var isIndented: Bool { self == .python }

  /// Whether a line has nothing but blanks or a comment.
  func isComment(_ line: String) -> Bool {
    let text = line.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
    switch self {
    case .python, .ruby: return text.isEmpty || text.hasPrefix("#")
    case .c, .javaScript, .keyword:
      return text.isEmpty || text.hasPrefix("//") || text.hasPrefix("/*") && text.hasSuffix("*/")
        || text == "*" || text.hasPrefix("* ") || text == "*/"
    }
  }

  /// The name that a line outside of functions gives a value, as in `const LIMIT: usize = 9;`, `#define LIMIT 9`, `LIMIT = 9`
  /// or `static char text[9];`; nil if it gives none.
  func nameOfValue(in line: String) -> String? {
    func lastName(_ text: Substring) -> String? {
      let names = text.utf8.split { !$0.isOfName }.compactMap { String($0) }
      return names.last { $0.first?.isNumber == false }
    }
    let text = line.trimmedBlanks
    guard !isComment(line) else { return nil }
    if self == .c, text.hasPrefix("#") {
      let words = text.dropFirst().split { $0 == " " || $0 == "\t" }
      return words.count > 1 && words[0] == "define" ? lastName(words[1].prefix { $0 != "(" }) : nil
    }
    guard let end = text.firstIndex(where: { $0 == "=" || $0 == "[" }) else { return nil }
    // A type may follow the name.
    let head = text[..<end].replacing("::", with: ".").split(separator: ":").first ?? ""
    return head.contains("(") ? nil : lastName(head)
  }

  /// The numbers, from 1, of the lines of comments that `/*` begins, and in Python of the texts that document a module,
  /// class or function.
  func longComments(in lines: [String]) -> Set<Int> {
    var (found, last): (Set<Int>, Substring) = ([], ":")
    var end: Substring?
    for (number, line) in zip(1..., lines) {
      var rest = line.trimmedBlanks
      if end == nil {
        guard let begin = beginOfComment(rest, after: last) else {
          if !isComment(line) { last = rest }
          continue
        }
        (end, rest) = (begin.end, begin.rest)
      }
      let close = end.flatMap { rest.firstRange(of: $0) }
      if close != nil { end = nil }
      // What follows the end on its line is code.
      if close.map({ $0.upperBound == rest.endIndex }) ?? true { found.insert(number) }
    }
    return found
  }

  /// What ends the comment that a line begins with, and the rest of the line; nil if it begins with none.
  ///
  /// In Python a text is a comment only at the start of a file or of a body.
  private func beginOfComment(_ text: Substring, after last: Substring) -> (end: Substring, rest: Substring)? {
    switch self {
    case .c, .javaScript, .keyword: return text.hasPrefix("/*") ? ("*/", text.dropFirst(2)) : nil
    case .ruby: return nil
    case .python:
      let quoted = text.drop { "rRuU".contains($0) }
      let mark = quoted.prefix(3)
      return last.hasSuffix(":") && (mark == "\"\"\"" || mark == "'''") ? (mark, quoted.dropFirst(3)) : nil
    }
  }

  /// The same as ``isComment(_:)`` for a file whose language may be unknown.
  package static func isComment(_ line: String, in language: SourceLanguage?) -> Bool {
    language?.isComment(line) ?? line.allSatisfy(\.isWhitespace)
  }
}

extension ChangedFile {
  /// The parts in which more than comments, spaces, the names of local variables and log statements differ.
  package var codeParts: [Part] {
    guard let language = SourceLanguage(path: path) else { return parts.filter { hasText($0) } }
    let comments = (language.longComments(in: before), language.longComments(in: now))
    func code(_ lines: [String], at first: Int, _ comments: Set<Int>) -> [String] {
      zip(first..., lines).filter { !comments.contains($0) && !language.isComment($1) }.map(\.1)
    }
    let codes = parts.map { part in
      (
        before: code(removed(part), at: part.before.lowerBound, comments.0),
        now: code(added(part), at: part.now.lowerBound, comments.1)
      )
    }
    let renamed = RenamedVariables(in: self, language, changed: codes)
    return zip(parts, codes).filter { _, code in
      let isSame =
        language.isIndented
        ? code.before == code.now : code.before.map(\.withoutBlanks) == code.now.map(\.withoutBlanks)
      return !isSame && !renamed.explain(code.before, code.now) && !LogStatements.are(code.before + code.now)
    }.map(\.0)
  }

  private func hasText(_ part: Part) -> Bool {
    removed(part).map(\.withoutBlanks).filter { !$0.isEmpty } != added(part).map(\.withoutBlanks).filter { !$0.isEmpty }
  }
}

extension String {
  fileprivate var withoutBlanks: String { filter { !$0.isWhitespace } }

  var trimmedBlanks: Substring {
    func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" || character == "\r" }
    return self[(firstIndex { !isBlank($0) } ?? endIndex)..<(lastIndex { !isBlank($0) }.map(index(after:)) ?? endIndex)]
  }
}
