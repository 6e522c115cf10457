/// Text that others wrote, in Markdown as GitHub and GitLab read it.
enum MarkdownText {
  /// A name or value in code font, also in a table.
  ///
  /// In code nothing is markup, a link or a mention. A code span ends at a backtick, and a table's cell at a pipe: a text
  /// with these is an element instead.
  static func code(_ text: String) -> String {
    let text = TerminalText.withPlainSpaces(TerminalText.safe(text))
    let isPlain = !text.isEmpty && text.first != " " && text.last != " " && !text.contains { "`|\\".contains($0) }
    return isPlain ? "`\(text)`" : element(text)
  }

  /// The same as HTML, with references for all characters that could be markup anywhere.
  static func element(_ text: String) -> String {
    let characters = TerminalText.safe(text).unicodeScalars.map { scalar in
      scalar.properties.isAlphabetic || "0123456789 -=,".unicodeScalars.contains(scalar)
        ? String(scalar) : "&#\(scalar.value);"
    }
    return "<code>\(characters.joined())</code>"
  }

  /// A sentence, also in a table: what stands between backticks is code, and nothing is other markup, a link, a mention
  /// or a reference to an issue.
  static func prose(_ text: String) -> String {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
    guard !parts.count.isMultiple(of: 2), !parts.dropFirst().dropLast().contains("") else { return plain(text) }
    return parts.enumerated().map { $0.isMultiple(of: 2) ? plain($1) : code($1) }.joined()
  }

  private static func plain(_ text: String) -> String {
    var result = ""
    for scalar in TerminalText.safe(text).unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "|": result += "&#\(scalar.value);"
      case "\\", "`", "*", "_", "[", "]", "{", "}": result += "\\\(scalar)"
      // People, issues, merge requests, labels and formulas.
      case "@", "#", "!", "~", "^", "$": result += "\\\(scalar)\(invisible)"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result.replacing("://", with: ":\(invisible)//").replacing("www.", with: "www\(invisible).")
  }

  /// A sentence at the start of a line, where a number or a sign could begin a list, a heading or a rule.
  static func line(_ text: String) -> String {
    text.first?.isLetter == true ? prose(text) : invisible + prose(text)
  }

  /// A link to the build's page; the address has no blanks.
  static func link(_ address: String) -> String {
    "[build](<\(address.replacing("<", with: "%3C").replacing(">", with: "%3E"))>)"
  }

  /// Lines as they are, in a block of code.
  static func block(_ lines: [String], of language: String) -> String {
    let longest = lines.joined(separator: "\n").split { $0 != "`" }.map(\.count).max() ?? 0
    let fence = String(repeating: "`", count: max(3, longest + 1))
    return ([fence + language] + lines + [fence]).joined(separator: "\n") + "\n"
  }

  /// A part that is opened by a click on its title, which is Markdown.
  static func folded(_ title: String, _ content: String, isOpen: Bool = false) -> String {
    "<details\(isOpen ? " open" : "")><summary>\(title)</summary>\n\n\(content)\n</details>\n"
  }

  /// A table; the cells are Markdown.
  static func table(_ titles: [(title: String, isNumber: Bool)], _ rows: [[String]]) -> String {
    let head = titles.map(\.title)
    let rule = titles.map { $0.isNumber ? "--:" : ":--" }
    return ([head, rule] + rows).map(row).joined()
  }

  static func row(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |\n"
  }

  /// Zero width space, which no reader takes for a part of a name or an address.
  private static let invisible = "&#8203;"

}
