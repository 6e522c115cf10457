/// The local variables to which a change of a file gives other names, without changing what its code does.
///
/// A name counts as one if the change replaces it where it is declared and where it is used, and if its new name was not in
/// the file before. Names of functions, members and types may mean other code.
struct RenamedVariables {
  /// New names by the old ones.
  private let names: [String: String]

  /// Whether lines differ from others by these names only.
  func explain(_ before: [String], _ now: [String]) -> Bool {
    guard !names.isEmpty, let differences = Self.differences(before, now), !differences.isEmpty else { return false }
    return differences.allSatisfy { names[$0.before] == $0.now }
  }

  init(in file: ChangedFile) {
    let changed = file.parts.map { (file.removed($0), file.added($0)) }
    let found = Dictionary(
      grouping: changed.compactMap { Self.differences($0, $1) }.flatMap(\.self), by: \.before)
    let candidates = found.compactMapValues { differences -> String? in
      let isUsed = differences.count > 1 && differences.contains(where: \.isDeclaration)
      return isUsed && Set(differences.map(\.now)).count == 1 ? differences[0].now : nil
    }
    guard !candidates.isEmpty, Set(candidates.values).count == candidates.count else {
      names = [:]
      return
    }
    let former = Set(file.before.flatMap(CodeToken.all)), added = Set(changed.flatMap(\.1).flatMap(CodeToken.all))
    names = candidates.filter { old, new in !former.contains(CodeToken(new)) && !added.contains(CodeToken(old)) }
  }

  private struct Difference {
    let before, now: String
    let isDeclaration: Bool
  }

  /// The names in which lines differ; nil if they differ in more.
  private static func differences(_ before: [String], _ now: [String]) -> [Difference]? {
    guard before.count == now.count, !before.contains(where: isImport) else { return nil }
    let (old, new) = (before.flatMap(CodeToken.all), now.flatMap(CodeToken.all))
    guard old.count == new.count else { return nil }
    var found: [Difference] = []
    for index in old.indices where old[index] != new[index] {
      let previous = index > 0 ? old[index - 1] : CodeToken("")
      let next = old[(index + 1)...].prefix(2).map(\.text)
      guard old[index].mayBeVariable, new[index].mayBeVariable, next.first != "(", ![".", ">"].contains(previous.text)
      else { return nil }
      let isAssigned = next == [":", "="] || next.first == "=" && next.last != "="
      found.append(
        Difference(
          before: old[index].text, now: new[index].text, isDeclaration: isAssigned || previous.mayDeclare))
    }
    return found
  }

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

  private var isName: Bool { text.utf8.first?.isOfName == true && text.first?.isNumber == false }

  /// Names in capitals are constants or types.
  var mayBeVariable: Bool { isName && text.first?.isUppercase == false }

  /// Whether it may stand before the name of a new variable, as a type or `let` do.
  var mayDeclare: Bool {
    let others: Set = [
      "and", "await", "case", "delete", "elif", "else", "if", "is", "new", "not", "or", "return", "throw", "typeof",
      "while", "yield",
    ]
    return isName && !others.contains(text)
  }
}
