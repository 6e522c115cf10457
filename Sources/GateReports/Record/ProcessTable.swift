import GateCore

/// The processes of a tree, the largest first.
struct ProcessTable {
  let processes: [ProcessRecord]

  /// Enough to see which ones matter.
  private static let most = 20

  /// Writes nothing where there is one process only.
  func write(to page: inout Page) {
    guard processes.count > 1 else { return }
    let sorted = processes.sorted { ($0.peak, $1.id) > ($1.peak, $0.id) }
    page.gap()
    let table = Table(
      columns: [
        .init(title: "process", side: .left), .init(title: "pid"), .init(title: "parent"), .init(title: "peak"),
        .init(title: "seen"), .init(title: "", side: .left),
      ],
      rows: sorted.prefix(Self.most).map { row($0, style: page.style) }
    )
    let fallback = Table(columns: Array(table.columns.prefix(4)), rows: table.rows.map { Array($0.prefix(4)) })
    page.lines(table.lines(indent: 2, style: page.style) ?? fallback.lines(indent: 2, style: page.style) ?? [])
    let rest = sorted.count - Self.most
    if rest > 0 { page.paragraph("and \(Figures.count(rest, "smaller process", plural: "smaller ones"))", indent: 2) }
  }

  private func row(_ process: ProcessRecord, style: TerminalStyle) -> [Table.Cell] {
    let seen = "\(Figures.time(process.firstSeen)) \(style.dash) \(Figures.time(process.lastSeen))"
    return [
      Table.Cell(TerminalText.safe(process.command)), Table.Cell("\(process.id)"), Table.Cell("\(process.parent)"),
      Table.Cell(Figures.amount(process.peak)), Table.Cell(Figures.glued(seen)),
      Table.Cell(process.isMain ? "main" : "", .faint),
    ]
  }
}
