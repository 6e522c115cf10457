/// Where a function, or a type with fields, is in the text of a source file.
struct FunctionExtent: Equatable {
  /// Without its types and modules; empty for a function without a name.
  var name: String
  /// The types, modules and functions that it is in, the outermost first.
  var scopes: [String]
  /// Count from 1; with decorators, return type and closing brace.
  var lines: ClosedRange<Int>
  var isType = false

  func isNamed(like other: FunctionExtent) -> Bool { name == other.name && scopes == other.scopes }
}

extension FunctionExtent {
  /// The functions of a text, an outer one before those that it contains.
  static func all(in lines: [String], _ language: SourceLanguage) -> [FunctionExtent] {
    withTypes(in: lines, language).filter { !$0.isType }
  }

  /// The functions and types of a text, an outer one before those that it contains.
  ///
  /// A scan of brackets and indentation, not a parser: macros can mislead it.
  static func withTypes(in lines: [String], _ language: SourceLanguage) -> [FunctionExtent] {
    let found: [FunctionExtent]
    switch language {
    case .python, .ruby:
      var scan = IndentedFunctions(language)
      found = scan.functions(of: lines)
    case .c, .javaScript, .keyword:
      var scan = BracedFunctions(language)
      found = scan.functions(of: lines)
    }
    return found.sorted { ($0.lines.lowerBound, -$0.lines.upperBound) < ($1.lines.lowerBound, -$1.lines.upperBound) }
  }
}

extension UInt8 {
  /// Whether it is a part of a name; all bytes beyond ASCII are.
  var isOfName: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  /// Also a line's end within parentheses, which ``HeaderText`` has as a vertical tab.
  var isBlank: Bool { " \t\r\u{b}".utf8.contains(self) }
}
