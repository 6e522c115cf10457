/// Rows of cells in aligned columns.
struct Table {
  struct Column {
    var title: String
    var side = TerminalText.Side.right
    /// Spaces before the column.
    var gap = 2
  }

  struct Cell: ExpressibleByStringLiteral {
    var text: String
    var tone: Tone?

    init(_ text: String, _ tone: Tone? = nil) {
      self.text = text
      self.tone = tone
    }

    init(stringLiteral text: String) {
      self.init(text)
    }
  }

  var columns: [Column]
  var rows: [[Cell]] = []

  /// The table's first columns.
  func prefix(_ count: Int) -> Table {
    Table(columns: Array(columns.prefix(count)), rows: rows.map { Array($0.prefix(count)) })
  }

  /// The table's lines, the titles first; the first column is cut in its middle where the rest needs the room.
  ///
  /// - Parameters:
  ///   - indent: Spaces before each line.
  ///   - style: What the terminal can show.
  ///   - leastFirst: The least that the first column is cut to.
  /// - Returns: nil where the table is too wide all the same.
  func lines(indent: Int, style: TerminalStyle, leastFirst: Int = 12) -> [String]? {
    var widths = columns.indices.map { index in
      rows.map { TerminalText.columns($0[index].text) }.reduce(TerminalText.columns(columns[index].title), max)
    }
    let gaps = columns.dropFirst().map(\.gap).reduce(0, +)
    let others = widths.dropFirst().reduce(indent + gaps, +)
    guard let first = widths.first, others + min(first, leastFirst) <= style.width else { return nil }
    widths[0] = min(first, style.width - others)
    let head = columns.map { Cell($0.title, .faint) }
    let hasTitles = columns.contains { !$0.title.isEmpty }
    return ((hasTitles ? [head] : []) + rows).map { line(of: $0, widths: widths, indent: indent, style: style) }
  }

  private func line(of row: [Cell], widths: [Int], indent: Int, style: TerminalStyle) -> String {
    let filled = row.lastIndex { !$0.text.isEmpty } ?? 0
    return row.indices.prefix(filled + 1).reduce(into: String(repeating: " ", count: indent)) { line, index in
      let text = TerminalText.cut(row[index].text, to: widths[index], at: .middle, mark: style.ellipsis)
      let spaces = String(repeating: " ", count: widths[index] - TerminalText.columns(text))
      let painted = style.painted(text, row[index].tone)
      let gap = String(repeating: " ", count: index == 0 ? 0 : columns[index].gap)
      switch columns[index].side {
      case .left: line += gap + painted + (index == filled ? "" : spaces)
      case .right: line += gap + spaces + painted
      }
    }
  }
}
