/// The local variables to which a change of a file gives other names, without changing what its code does.
///
/// A name counts as one if the change replaces it where it is declared and where it is used, and if its new name was not in
/// the function before. Names of functions, members and types may mean other code; those of closures do not.
struct RenamedVariables {
  /// New names by the old ones.
  private let names: [String: String]

  /// Whether lines differ from others by these names only.
  func explain(_ before: [String], _ now: [String]) -> Bool {
    guard !names.isEmpty, let differences = Self.differences(before, now), !differences.isEmpty else { return false }
    return differences.allSatisfy { names[$0.before] == $0.now }
  }

  /// `changed` has the code of each part, without comments.
  init(in file: ChangedFile, _ language: SourceLanguage, changed: [(before: [String], now: [String])]) {
    let found = Dictionary(
      grouping: changed.compactMap { Self.differences($0, $1) }.flatMap(\.self), by: \.before)
    let candidates = found.compactMapValues { differences -> String? in
      let isDeclared = differences.contains { $0.isAssigned || $0.isDeclared && !differences.contains(where: \.isCall) }
      return isDeclared && differences.count > 1 && Set(differences.map(\.now)).count == 1 ? differences[0].now : nil
    }
    guard !candidates.isEmpty, Set(candidates.values).count == candidates.count else {
      names = [:]
      return
    }
    let former = Set(Self.scope(of: file, language).flatMap(CodeToken.variables))
    let added = Set(changed.flatMap(\.now).flatMap(CodeToken.variables))
    names = candidates.filter { old, new in !former.contains(CodeToken(new)) && !added.contains(CodeToken(old)) }
  }

  /// The lines before of the functions that changed; all without one.
  private static func scope(of file: ChangedFile, _ language: SourceLanguage) -> [String] {
    let functions = FunctionExtent.all(in: file.before, language).filter { own in
      file.parts.contains { $0.before.overlaps(Range(own.lines)) }
    }
    return functions.isEmpty
      ? file.before : functions.flatMap { file.before[$0.lines.lowerBound - 1..<$0.lines.upperBound] }
  }

  private struct Difference {
    let before, now: String
    /// Whether it begins a variable or names a function's parameter, and whether the variable gets its value there.
    let isDeclared, isAssigned: Bool
    let isCall: Bool
  }

  /// The names in which lines differ; nil if they differ in more.
  private static func differences(_ before: [String], _ now: [String]) -> [Difference]? {
    guard before.count == now.count, !before.contains(where: isImport) else { return nil }
    var found: [Difference] = []
    for (old, new) in zip(before.map(CodeToken.all), now.map(CodeToken.all)) {
      guard old.count == new.count else { return nil }
      for index in old.indices where old[index] != new[index] {
        guard old[index].mayBeVariable, new[index].mayBeVariable, !CodeToken.isMember(index, of: old) else {
          return nil
        }
        found.append(difference(old, new, at: index))
      }
    }
    return found
  }

  private static func difference(_ old: [CodeToken], _ new: [CodeToken], at index: Int) -> Difference {
    let previous = index > 0 ? old[index - 1] : CodeToken("")
    let next = old[(index + 1)...].prefix(2).map(\.text)
    let isAssigned = next == [":", "="] || next.first == "=" && next.last != "="
    // A parameter, or what a loop runs over.
    let isTyped = ["(", ",", "|", "&", "*"].contains(previous.text) && next.first == ":" && next.last != ":"
    let isParameter =
      isTyped || ["(", ",", "|"].contains(previous.text) && old.first.map { functionWords.contains($0.text) } == true
    return Difference(
      before: old[index].text, now: new[index].text, isDeclared: isAssigned || isParameter || previous.mayDeclare,
      isAssigned: isAssigned, isCall: next.first == "(")
  }

  private static let functionWords: Set = ["def", "fn", "fun", "func", "function"]

  private static func isImport(_ line: String) -> Bool {
    let words: Set = ["import", "from", "use", "using", "include", "require"]
    return CodeToken.all(in: line).prefix(2).contains { words.contains($0.text) }
  }
}

/// A name, a number or a single character of code.
private struct CodeToken: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func all(in line: String) -> [CodeToken] {
    var (tokens, rest) = ([CodeToken](), line.utf8[...])
    while let first = rest.first {
      let word = rest.prefix(while: \.isOfName)
      let token = word.isEmpty ? rest.prefix(1) : word
      if !first.isBlank, first != UInt8(ascii: "\r") { tokens.append(CodeToken(String(Substring(token)))) }
      rest = rest.dropFirst(token.count)
    }
    return tokens
  }

  /// The names that may be variables, rather than members or words of a text.
  static func variables(in line: String) -> [CodeToken] {
    let tokens = all(in: line)
    var (isText, found) = (false, [CodeToken]())
    for (index, token) in tokens.enumerated() {
      if token.text == "\"" { isText.toggle() }
      // A text may have values between words.
      let isWord = isText && !["{", "(", "$"].contains(tokens[index - 1].text)
      if token.mayBeVariable, !isWord, !isMember(index, of: tokens) { found.append(token) }
    }
    return found
  }

  /// Whether a name follows `.`, `->` or `::`; `..` begins the end of a range.
  static func isMember(_ index: Int, of tokens: [CodeToken]) -> Bool {
    let before = tokens[..<index].suffix(2).map(\.text)
    return before.last == "." && before != [".", "."] || before == ["-", ">"] || before == [":", ":"]
  }

  private var isName: Bool { text.utf8.first?.isOfName == true && text.first?.isNumber == false }

  /// Names in capitals are constants or types.
  var mayBeVariable: Bool { isName && text.first?.isUppercase == false }

  /// Whether it may stand before the name of a new variable, as a type or `let` do.
  var mayDeclare: Bool {
    let others: Set = [
      "and", "await", "case", "delete", "elif", "else", "if", "in", "is", "new", "not", "of", "or", "return", "throw",
      "typeof", "while", "yield",
    ]
    // `>` ends a type.
    return isName && !others.contains(text) || text == ">"
  }
}
