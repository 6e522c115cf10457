/// Finds functions and classes whose bodies are indented.
struct IndentedFunctions {
  private enum Kind: Substring {
    case function = "def"
    case type = "class"
    case module
  }

  private struct Block {
    let name: String
    let kind: Kind
    let indent: Int
    let start: Int
  }

  private let language: SourceLanguage
  private var open: [Block] = []
  private var found: [FunctionExtent] = []
  /// The last line that was not blank.
  private var last = 0
  /// The first line of the decorators before a function.
  private var decorators: Int?
  /// Three quotation marks, within a text of several lines.
  private var quotes: [UInt8]?
  private var brackets = 0

  init(_ language: SourceLanguage) {
    self.language = language
  }

  mutating func functions(of lines: [String]) -> [FunctionExtent] {
    for (index, line) in lines.enumerated() {
      let isContinued = quotes != nil || brackets > 0
      if !isContinued, !language.isComment(line) { begin(line, number: index + 1) }
      scan(Array(line.utf8))
      if isContinued || !language.isComment(line) { last = index + 1 }
    }
    close(from: 0)
    return found
  }

  private mutating func begin(_ line: String, number: Int) {
    let text = line.drop { $0 == " " || $0 == "\t" }
    let indent = line.prefix(line.count - text.count).reduce(0) { $1 == "\t" ? ($0 / 8 + 1) * 8 : $0 + 1 }
    if language == .ruby && text.hasPrefix("end") { last = number }
    close(from: indent)
    if text.hasPrefix("@"), language == .python {
      decorators = decorators ?? number
      return
    }
    defer { decorators = nil }
    var words = text.split(separator: " ")
    if words.first == "async" { words.removeFirst() }
    guard words.count > 1, let kind = Kind(rawValue: words[0]) else { return }
    let name = words[1].prefix { !"(:[;<".contains($0) }.split(separator: ".").last.map(String.init) ?? ""
    open.append(Block(name: name, kind: kind, indent: indent, start: decorators ?? number))
  }

  /// Closes the blocks that are indented at least so far.
  private mutating func close(from indent: Int) {
    while let block = open.last, block.indent >= indent {
      open.removeLast()
      guard block.kind != .module else { continue }
      found.append(
        FunctionExtent(
          name: block.name, scopes: open.map(\.name), lines: block.start...max(block.start, last),
          isType: block.kind == .type))
    }
  }

  /// Follows texts and brackets that continue on the next line.
  private mutating func scan(_ line: [UInt8]) {
    var at = 0
    while at < line.count {
      let byte = line[at]
      if let open = quotes {
        if line[at...].starts(with: open) { (quotes, at) = (nil, at + 2) }
      } else if byte == UInt8(ascii: "#") {
        return
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        let triple = [byte, byte, byte]
        if language == .python, line[at...].starts(with: triple) {
          (quotes, at) = (triple, at + 2)
        } else {
          at = line.endOfText(from: at)
        }
      } else if "([{".utf8.contains(byte) {
        brackets += 1
      } else if ")]}".utf8.contains(byte) {
        brackets = max(0, brackets - 1)
      }
      at += byte == UInt8(ascii: "\\") ? 2 : 1
    }
  }
}

extension [UInt8] {
  /// The place of the quotation mark that ends the text which begins here; the last byte if there is none.
  func endOfText(from start: Int) -> Int {
    var at = start + 1
    while at < count, self[at] != self[start] { at += self[at] == UInt8(ascii: "\\") ? 2 : 1 }
    return Swift.min(at, count - 1)
  }
}
