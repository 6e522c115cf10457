/// Rows of cells in aligned columns.
struct Table {
  struct Column {
    var title = ""
    var side = TerminalText.Side.right
    /// Spaces before the column.
    var gap = 2
    /// If the table is too wide, the columns of the highest rank are left out first; those of rank 0 always stay.
    var rank = 0
    /// Whether its cells only separate their neighbours.
    var isSeparator = false
    /// Where a cell is cut that is too long.
    var cut = TerminalText.Cut.middle
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
  /// The column whose cells may be cut.
  var flexible = 0

  /// Writes the table; if it is too wide, with fewer or cut columns, or else with a paragraph for each row.
  ///
  /// The flexible column is cut to the first of the `limits` with which the table fits; by default it is cut only if
  /// leaving out columns does not help.
  func write(to page: inout TerminalPage, indent: Int, limits: [Int] = [.max, 12]) {
    guard !rows.isEmpty else { return }
    let ranks = Set(columns.map(\.rank)).union([0]).sorted(by: >)
    for limit in limits {
      for rank in ranks {
        guard let lines = upTo(rank: rank).lines(indent: indent, style: page.style, limit: limit) else { continue }
        return page.lines(lines)
      }
    }
    for row in rows { write(row, to: &page, indent: indent) }
  }

  private func upTo(rank: Int) -> Table {
    let kept = columns.indices.filter { columns[$0].rank <= rank }
    return Table(columns: kept.map { columns[$0] }, rows: rows.map { row in kept.map { row[$0] } }, flexible: flexible)
  }

  private func write(_ row: [Cell], to page: inout TerminalPage, indent: Int) {
    page.paragraph(row[0].text, indent: indent, tone: row[0].tone ?? .strong)
    let shown = zip(columns, row).dropFirst().filter { !$0.isSeparator && !$1.text.isEmpty }
    let texts = shown.map { column, cell in column.title.isEmpty ? " \(cell.text)" : ", \(column.title) \(cell.text)" }
    let text = texts.joined().drop { $0 == "," || $0 == " " }
    page.paragraph(String(text), indent: indent + 2)
  }

  /// The lines, starting with the titles; nil if the table is too wide with the flexible column cut to `limit`.
  private func lines(indent: Int, style: TerminalStyle, limit: Int) -> [String]? {
    var widths = columns.indices.map { index in
      rows.map { TerminalText.columns($0[index].text) }.reduce(TerminalText.columns(columns[index].title), max)
    }
    let longest = widths[flexible]
    let others = columns.dropFirst().map(\.gap).reduce(indent, +) + widths.reduce(0, +) - longest
    guard others + min(longest, limit) <= style.width else { return nil }
    widths[flexible] = min(longest, style.width - others)
    let head = columns.map { Cell($0.title, .faint) }
    let hasTitles = columns.contains { !$0.title.isEmpty }
    return ((hasTitles ? [head] : []) + rows).map { line(of: $0, widths: widths, indent: indent, style: style) }
  }

  private func line(of row: [Cell], widths: [Int], indent: Int, style: TerminalStyle) -> String {
    let filled = row.lastIndex { !$0.text.isEmpty } ?? 0
    return row.indices.prefix(filled + 1).reduce(into: String(repeating: " ", count: indent)) { line, index in
      let text = TerminalText.cut(row[index].text, to: widths[index], at: columns[index].cut, mark: style.ellipsis)
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
