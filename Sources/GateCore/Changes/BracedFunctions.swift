/// Finds functions and types whose bodies are in braces.
struct BracedFunctions {
  private enum Kind {
    case function(String)
    case type(String, isNamedBehind: Bool)
    case scope(String)
    case plain
    /// Braces within what comes before the body, as in `f(int a = {})`.
    case within(header: [UInt8], line: Int?)
  }

  private struct Block {
    let kind: Kind
    /// The types before its name, as of `Table` in `Table::grow`.
    let scopes: [String]
    let start: Int
    /// The open parentheses around it.
    let parentheses: Int

    var name: String? {
      switch kind {
      case .function(let name), .type(let name, _), .scope(let name): name
      case .plain, .within: nil
      }
    }

    var isFunction: Bool { if case .function = kind { true } else { false } }
  }

  /// Longer headers are data.
  private static let longestHeader = 4000

  private let language: SourceLanguage
  private var open: [Block] = []
  private var found: [FunctionExtent] = []
  /// What precedes the next brace, without comments and texts; line ends only where no parenthesis is open.
  private var header: [UInt8] = []
  /// The first line of it that is not blank.
  private var headerLine: Int?
  private var parentheses = 0
  /// What ends a text or comment of several lines.
  private var terminator: [UInt8]?
  /// The number of open blocks at each `#if`.
  private var conditions: [Int] = []
  private var isContinuedDirective = false
  /// The lines of a type whose name follows, as in `typedef struct { … } entry;`.
  private var unnamed: ClosedRange<Int>?

  init(_ language: SourceLanguage) {
    self.language = language
  }

  mutating func functions(of lines: [String]) -> [FunctionExtent] {
    for (index, line) in lines.enumerated() {
      let bytes = Array(line.utf8)
      if language == .c, terminator == nil, isContinuedDirective || bytes.first(where: { !$0.isBlank }) == 0x23 {
        follow(directive: bytes, isContinued: isContinuedDirective)
        isContinuedDirective = bytes.last { $0 != UInt8(ascii: "\r") } == UInt8(ascii: "\\")
        continue
      }
      scan(bytes, line: index + 1)
      if !header.isEmpty { header.append(parentheses == 0 ? UInt8(ascii: "\n") : HeaderText.innerLineEnd) }
    }
    while !open.isEmpty { close(line: lines.count) }
    return found
  }

  /// The branches of a condition open the same blocks.
  private mutating func follow(directive line: [UInt8], isContinued: Bool) {
    guard !isContinued else { return }
    let word = line.drop { $0.isBlank || $0 == 0x23 }.prefix(while: \.isOfName)
    if word.starts(with: "if".utf8) { conditions.append(open.count) }
    if word.starts(with: "el".utf8), let count = conditions.last { open.removeLast(max(0, open.count - count)) }
    if word.elementsEqual("endif".utf8), !conditions.isEmpty { conditions.removeLast() }
    resetHeader()
  }

  private mutating func resetHeader() {
    header = []
    headerLine = nil
  }

  // MARK: Scanning

  private mutating func scan(_ bytes: [UInt8], line: Int) {
    var at = 0
    while at < bytes.count {
      if let end = terminator {
        guard bytes[at...].starts(with: end) else {
          at += bytes[at] == UInt8(ascii: "\\") && end.count == 1 ? 2 : 1
          continue
        }
        (terminator, at) = (nil, at + end.count)
      } else if bytes[at...].starts(with: "//".utf8) {
        return
      } else if bytes[at...].starts(with: "/*".utf8) {
        (terminator, at) = (Array("*/".utf8), at + 2)
      } else if let next = skipText(bytes, at) {
        at = next
      } else {
        take(bytes[at], line: line)
        at += 1
      }
    }
  }

  /// The place behind a text that begins here, or behind its beginning if it ends on another line; nil if none does.
  private mutating func skipText(_ bytes: [UInt8], _ at: Int) -> Int? {
    switch bytes[at] {
    case UInt8(ascii: "\""):
      if let raw = rawTerminator(bytes, at) {
        terminator = raw.end
        return raw.start
      }
      let end = bytes.endOfText(from: at)
      let isClosed = end > at && bytes[end] == bytes[at]
      if !isClosed, language == .keyword { terminator = [bytes[at]] }
      return isClosed || language == .keyword ? (isClosed ? end + 1 : bytes.count) : bytes.count
    case UInt8(ascii: "'"): return endOfCharacter(bytes, at)
    case UInt8(ascii: "`") where language != .c:
      terminator = [bytes[at]]
      return at + 1
    case UInt8(ascii: "/") where language == .javaScript: return endOfExpression(bytes, at)
    default: return nil
    }
  }

  /// Of `"""` (Swift, Kotlin, Java), `R"x(…)x"` (C++) and `r#"…"#` (Rust).
  private func rawTerminator(_ bytes: [UInt8], _ at: Int) -> (end: [UInt8], start: Int)? {
    let quote = UInt8(ascii: "\"")
    if bytes[at...].starts(with: [quote, quote, quote]) { return ([quote, quote, quote], at + 3) }
    if language == .c, header.last == UInt8(ascii: "R"), let open = bytes[at...].firstIndex(of: UInt8(ascii: "(")) {
      return ([UInt8(ascii: ")")] + bytes[(at + 1)..<open] + [quote], open + 1)
    }
    let marks = header.reversed().prefix { $0 == UInt8(ascii: "#") }.count
    let isRaw = language == .keyword && header.dropLast(marks).last == UInt8(ascii: "r")
    return isRaw ? ([quote] + [UInt8](repeating: UInt8(ascii: "#"), count: marks), at + 1) : nil
  }

  /// A lifetime of Rust has no second mark.
  private func endOfCharacter(_ bytes: [UInt8], _ at: Int) -> Int {
    let end = bytes.endOfText(from: at)
    guard end > at, bytes[end] == bytes[at] else { return at + 1 }
    let first = bytes[at + 1]
    let isOne = first == UInt8(ascii: "\\") || end - at == 2 || first >= 0x80 && end - at <= 5
    return language != .keyword || isOne ? end + 1 : at + 1
  }

  /// A regular expression of JavaScript follows an operator or an opening bracket.
  private func endOfExpression(_ bytes: [UInt8], _ at: Int) -> Int? {
    let before = header.last { !$0.isBlank && $0 != UInt8(ascii: "\n") }
    guard before.map({ "(,=:[!&|?;+".utf8.contains($0) }) ?? true else { return nil }
    let end = bytes.endOfText(from: at)
    return end > at && bytes[end] == bytes[at] ? end + 1 : nil
  }

  // MARK: Blocks

  private mutating func take(_ byte: UInt8, line: Int) {
    switch byte {
    case UInt8(ascii: "{"): openBlock(line: line)
    case UInt8(ascii: "}"): close(line: line)
    case UInt8(ascii: ";") where parentheses == 0 && unnamed != nil:
      if let lines = unnamed, let name = HeaderText(header).outerWords.last { add(name, lines, isType: true) }
      unnamed = nil
      resetHeader()
    case UInt8(ascii: ";") where parentheses == 0, UInt8(ascii: ",") where parentheses == 0 && language == .javaScript:
      resetHeader()
    case UInt8(ascii: ":") where language == .c && HeaderText(header).isLabel: resetHeader()
    default:
      if "([".utf8.contains(byte) { parentheses += 1 }
      if ")]".utf8.contains(byte) { parentheses = max(0, parentheses - 1) }
      if headerLine == nil, !byte.isBlank { headerLine = line }
      if headerLine != nil, header.count < Self.longestHeader { header.append(byte) }
    }
  }

  private mutating func openBlock(line: Int) {
    let isInFunction = open.last { $0.name != nil }?.isFunction ?? false
    let parsed = BlockHeader(header, language, parentheses: parentheses, isInFunction: isInFunction)
    let kind: Kind =
      switch parsed {
      case .function(let name): .function(name)
      case .type(let name): .type(name, isNamedBehind: HeaderText(header).outerWords.first == "typedef")
      case .scope(let name): .scope(name)
      case .plain: .plain
      case .unfinished: .within(header: header, line: headerLine)
      }
    // Without semicolons the header has earlier statements.
    let start = language == .c ? headerLine : HeaderText(header).declaration(language).map { line - $0.lineEnds }
    let scopes = if case .function(let name) = kind { HeaderText(header).scopes(of: name) } else { [String]() }
    open.append(Block(kind: kind, scopes: scopes, start: start ?? line, parentheses: parentheses))
    parentheses = 0
    resetHeader()
  }

  private mutating func close(line: Int) {
    guard let block = open.popLast() else { return }
    (parentheses, header, headerLine) = (block.parentheses, [], nil)
    switch block.kind {
    case .function(let name): add(name, block.start...line, in: block.scopes)
    case .type(let name, let isNamedBehind):
      add(name, block.start...line, isType: true)
      if isNamedBehind { unnamed = block.start...line }
    case .within(let before, let start): (header, headerLine) = (before + [UInt8(ascii: "0")], start)
    case .scope, .plain: break
    }
  }

  private mutating func add(
    _ name: String, _ lines: ClosedRange<Int>, in scopes: [String] = [], isType: Bool = false
  ) {
    guard !isType || !name.isEmpty else { return }
    let outer = open.flatMap { $0.scopes + [$0.name].compactMap(\.self) }
    found.append(FunctionExtent(name: name, scopes: outer + scopes, lines: lines, isType: isType))
  }
}
