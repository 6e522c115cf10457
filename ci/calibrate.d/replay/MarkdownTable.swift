import GateCore

/// A Markdown table with padded columns, readable as plain text.
package struct MarkdownTable {
  private var rows: [[String]]

  package init(_ header: [String]) {
    rows = [header]
  }

  package mutating func add(_ row: [String]) {
    rows.append(row)
  }

  package var lines: [String] {
    let widths = (rows.first ?? []).indices.map { column in
      max(4, rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0)
    }
    // The first column is text, the others are numbers.
    let rule = widths.enumerated().map { column, width in
      column == 0 ? String(repeating: "-", count: width) : String(repeating: "-", count: width - 1) + ":"
    }
    return ([rows[0], rule] + rows.dropFirst()).map { Self.line($0, widths) }
  }

  /// A row whose columns have these widths.
  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    let padded = zip(cells, widths).enumerated().map { column, cell in
      let space = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return column == 0 ? cell.0 + space : space + cell.0
    }
    return "| " + padded.joined(separator: " | ") + " |"
  }
}

/// A number for a table cell.
func number(_ value: Double, places: Int = 1) -> String {
  Decimals.text(value, places: places)
}
