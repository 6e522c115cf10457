import GateCore

/// The processes of one repetition's tree, the largest first.
struct ProcessTable {
  let repetition: RepetitionResult
  let title: String

  /// Writes nothing for a single process.
  func write(to page: inout TerminalPage) {
    guard let table = table(page.style) else { return }
    page.gap()
    page.paragraph(title, indent: 2, tone: .faint)
    table.write(to: &page, indent: 2, limits: [Self.longestCommand, 4])
    if let rest = rest(page.style) { page.paragraph(rest, indent: 2) }
  }

  /// The kernel's limit (TASK_COMM_LEN without its final zero, linux/sched.h).
  private static let longestCommand = 15

  /// The number of processes that the table leaves out; nil if it is complete.
  func rest(_ style: TerminalStyle) -> String? {
    let rest = repetition.processes - repetition.largestProcesses.count
    return rest > 0 ? "\(style.ellipsis) \(rest) more" : nil
  }

  /// nil for a single process.
  func table(_ style: TerminalStyle) -> Table? {
    let processes = repetition.largestProcesses.sorted { ($0.peak, $1.id) > ($1.peak, $0.id) }
    guard processes.count > 1 else { return nil }
    let hasEndings = processes.contains { $0.ending != nil }
    let ended = Table.Column(title: "ended", side: .left, rank: 2)
    return Table(
      columns: [
        .init(title: "process", side: .left), .init(title: "pid"), .init(side: .left, gap: 1),
        .init(title: "peak"), .init(side: .left, gap: 1, rank: 1),
      ] + (hasEndings ? [ended] : []) + [.init(title: "seen", rank: 3)],
      rows: processes.map { process in
        let seen = "\(Format.time(process.firstSeen)) \(style.dash) \(Format.time(process.lastSeen))"
        return [
          Table.Cell(TerminalText.safe(process.command)), Table.Cell("\(process.id)"),
          Table.Cell(process.isMain ? "main" : "", .strong), Table.Cell(Format.amount(process.peak)),
          Table.Cell(process.isExact ? "exact" : "sampled", .faint),
        ] + (hasEndings ? [Table.Cell(process.ending?.shortText ?? "unknown")] : []) + [Table.Cell(Format.glued(seen))]
      }
    )
  }
}

extension EndEvidence.Status {
  /// A short form of how a process ended, for a column.
  fileprivate var shortText: String {
    switch self {
    case .exited(let code): "exited\(Format.space)\(code)"
    case .signaled(let signal, let coreDumped): "SIG\(signal.name)" + (coreDumped ? ", core dumped" : "")
    }
  }
}
