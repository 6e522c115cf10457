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

  /// The same for a file whose language may be unknown.
  static func isComment(_ line: String, in language: SourceLanguage?) -> Bool {
    language?.isComment(line) ?? line.allSatisfy(\.isWhitespace)
  }
}

extension ChangedFile {
  /// The parts in which more than comments and spaces differ.
  package var codeParts: [Part] {
    let language = SourceLanguage(path: path)
    func code(_ lines: [String]) -> [String] {
      let code = lines.filter { !SourceLanguage.isComment($0, in: language) }
      return language?.isIndented == true ? code : code.map { $0.filter { !$0.isWhitespace } }
    }
    return parts.filter { code(removed($0)) != code(added($0)) }
  }
}
