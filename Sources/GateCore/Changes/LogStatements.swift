/// Statements that only write a line to a log or to the standard output, which says nothing about memory.
///
/// A scan of their text, not a parser: what is not surely such a statement is none, as one that logs the result of a call.
enum LogStatements {
  /// Whether all these lines of code are log statements, or conditions and braces around them.
  static func are(_ lines: [String]) -> Bool {
    var (rest, found, braces) = (lines.map(\.trimmedBlanks)[...], false, 0)
    while let first = rest.popFirst() {
      var text = first
      while depth(of: text) > 0, let next = rest.popFirst() { text += " " + next }
      if isLog(withoutCondition(text)) {
        found = true
      } else if !isBracket(text) {
        return false
      }
      braces += balance(of: text, "{", "}")
    }
    return found && braces == 0
  }

  private static func balance(of text: Substring, _ opening: Character, _ closing: Character) -> Int {
    text.reduce(0) { $0 + ($1 == opening ? 1 : $1 == closing ? -1 : 0) }
  }

  private static func depth(of text: Substring) -> Int { balance(of: text, "(", ")") }

  /// As in `if (turn % 100 == 0) {`, `if verbose:`, `} else {` and `}`.
  private static func isBracket(_ text: Substring) -> Bool {
    let isCondition =
      ["if ", "if(", "else", "} else"].contains(where: text.hasPrefix) && "{:".contains(text.last ?? " ")
    return text == "}" || text == "{" || isCondition && hasOnlySmallCalls(text.drop { $0 != " " && $0 != "(" })
  }

  /// What follows `if (…)` on its line; a condition without a statement stays.
  private static func withoutCondition(_ text: Substring) -> Substring {
    guard text.hasPrefix("if (") || text.hasPrefix("if(") else { return text }  // text from outside: source code
    var depth = 0
    for index in text.indices {
      depth += text[index] == "(" ? 1 : text[index] == ")" ? -1 : 0
      guard text[index] == ")", depth == 0 else { continue }
      let rest = text[text.index(after: index)...].drop(while: \.isWhitespace)
      return rest.isEmpty || rest == "{" || !hasOnlySmallCalls(text[...index].dropFirst(3)) ? text : rest
    }
    return text
  }

  private static func isLog(_ text: Substring) -> Bool {
    let head = text.prefix { $0.isLetter || $0.isNumber || "_.:!->".contains($0) }
    let rest = text[head.endIndex...]
    let names = head.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    guard let name = names.last else { return false }
    let owner = names.dropLast().last
    if streams.contains(name), owner == nil || owner == "std" {
      return rest.drop(while: \.isWhitespace).hasPrefix("<<") && rest.last == ";" && hasOnlySmallCalls(rest)
    }
    guard rest.first == "(", let last = rest.lastIndex(of: ")"), ["", ";"].contains(rest[rest.index(after: last)...]),
      hasOnlySmallCalls(rest.dropFirst())
    else { return false }
    return head.hasSuffix("!") ? macros.contains(name) : isLog(name, of: owner)
  }

  private static func isLog(_ name: Substring, of owner: Substring?) -> Bool {
    guard let owner, owner != "std" else { return printers.contains(name) }
    let lowered = owner.lowercased().drop { $0 == "_" }
    return loggers.contains(String(lowered)) && levels.contains(name.lowercased())
  }

  // text from outside: what languages and their usual libraries call them
  private static let streams: Set<Substring> = ["cout", "cerr", "clog"]
  private static let printers: Set<Substring> = ["print", "printf", "println", "puts", "perror", "NSLog", "fprintf"]
  private static let macros: Set<Substring> = [
    "debug", "eprint", "eprintln", "error", "info", "print", "println", "trace", "warn",
  ]
  private static let loggers: Set<String> = [
    "console", "err", "fmt", "log", "logger", "logging", "out", "slog", "stderr", "stdout",
  ]
  private static let levels: Set<String> = [
    "critical", "debug", "error", "exception", "info", "log", "notice", "print", "printf", "println", "trace", "warn",
    "warning",
  ]
  private static let smallCalls: Set<Substring> = ["int", "len", "round", "sizeof", "str"]

  /// Whether all calls in a text ask a value for a property, as in `rows.size()`, or are known to make nothing large.
  private static func hasOnlySmallCalls(_ text: Substring) -> Bool {
    text.indices.allSatisfy { index in
      guard text[index] == "(" else { return true }
      let before = text[..<index].reversed()
      let name = before.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      let isOfValue = before.dropFirst(name.count).first.map { ".>".contains($0) } == true
      let isEmpty = text[text.index(after: index)...].first == ")"
      return name.isEmpty || isEmpty && isOfValue || smallCalls.contains(Substring(name.reversed()))
    }
  }
}
