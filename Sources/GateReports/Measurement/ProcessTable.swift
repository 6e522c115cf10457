import GateCore

/// The processes of one repetition's tree, the largest first.
struct ProcessTable {
  let repetition: RepetitionResult
  let title: String

  /// Writes nothing where there is one process only; shows as many columns as fit, the main ones first.
  func write(to page: inout Page) {
    let processes = repetition.largestProcesses.sorted { ($0.peak, $1.id) > ($1.peak, $0.id) }
    guard processes.count > 1 else { return }
    page.gap()
    page.paragraph(title, indent: 2, tone: .faint)
    let table = table(of: processes, style: page.style)
    let lines = stride(from: table.columns.count, through: 1, by: -1).lazy.compactMap { count in
      Table(columns: Array(table.columns.prefix(count)), rows: table.rows.map { Array($0.prefix(count)) })
        .lines(indent: 2, style: page.style)
    }.first
    page.lines(lines ?? [])
    let rest = repetition.processes - processes.count
    if rest > 0 { page.paragraph("\(page.style.ellipsis) \(rest) more", indent: 2) }
  }

  private func table(of processes: [ProcessRecord], style: TerminalStyle) -> Table {
    let hasEndings = processes.contains { $0.ending != nil }
    let ended = Table.Column(title: "ended", side: .left)
    return Table(
      columns: [
        .init(title: "process", side: .left), .init(title: "pid"), .init(title: "", side: .left, gap: 1),
        .init(title: "peak"), .init(title: "", side: .left, gap: 1),
      ] + (hasEndings ? [ended] : []) + [.init(title: "seen")],
      rows: processes.map { process in
        let seen = "\(Figures.time(process.firstSeen)) \(style.dash) \(Figures.time(process.lastSeen))"
        return [
          Table.Cell(TerminalText.safe(process.command)), Table.Cell("\(process.id)"),
          Table.Cell(process.isMain ? "main" : "", .strong), Table.Cell(Figures.amount(process.peak)),
          Table.Cell(process.isExact ? "exact" : "sampled", .faint),
        ] + (hasEndings ? [Table.Cell(process.ending?.words ?? "not seen")] : []) + [Table.Cell(Figures.glued(seen))]
      }
    )
  }
}
