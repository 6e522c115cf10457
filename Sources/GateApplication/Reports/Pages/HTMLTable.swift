/// A report's table as HTML: the same cells as on a terminal, in columns that a browser aligns.
struct HTMLTable {
  var table: Table

  private static let template = PageTemplate("table")

  var text: String {
    Self.template.render([
      "hasTitles": table.columns.contains { !$0.title.isEmpty },
      "titles": table.columns.map { ["text": $0.title, "number": $0.side == .right] as [String: Any] },
      "rows": table.rows.map { row in
        [
          "cells": zip(table.columns, row).map { column, cell in
            ["text": cell.text, "style": Self.style(of: column, cell)]
          }
        ]
      },
    ])
  }

  /// The attribute of a cell, or nothing if it is plain.
  private static func style(of column: Table.Column, _ cell: Table.Cell) -> String {
    let names = (column.side == .right ? ["number"] : []) + (cell.tone.map { [$0.style] } ?? [])
    return names.isEmpty ? "" : " class=\"\(names.joined(separator: " "))\""
  }
}

extension Tone {
  /// The class of `page.css`.
  fileprivate var style: String {
    switch self {
    case .good: "good"
    case .bad: "bad"
    case .unsure: "unsure"
    case .faint: "quiet"
    case .strong: "strong"
    }
  }
}
