package import GateCore

/// The report of `approve` on the baselines that it wrote.
package enum ApprovalReport {
  package static func text(_ changes: [ApprovalChange], style: TerminalStyle) -> String {
    var page = TerminalPage(style)
    for change in changes {
      write(change, to: &page)
    }
    page.gap()
    page.paragraph(counts(changes), indent: 0, tone: .strong)
    if changes.contains(where: { $0.outcome == .created || $0.outcome == .replaced }) {
      page.paragraph("commit the changed files, so that later checks compare with them", indent: 0)
    }
    return page.text
  }

  private static func write(_ change: ApprovalChange, to page: inout TerminalPage) {
    let style = page.style
    let (word, tone) = heading(change.outcome)
    let name = TerminalText.safe(change.scenario.text)
    let room = style.width - 11
    page.line(
      style.painted(TerminalText.padded(word, to: 9), tone) + "  "
        + style.painted(TerminalText.cut(name, to: room, at: .middle, mark: style.ellipsis), .strong)
    )
    switch change.outcome {
    case .created, .replaced:
      medians(change).write(to: &page, indent: 11)
      page.line("           " + style.painted(TerminalText.safe(change.path), .faint))
    case .unchanged: break
    case .skipped(let reason): page.paragraph(TerminalText.safe(reason.displayText), indent: 11)
    }
    for creep in change.creeps { page.paragraph(TerminalText.safe(creep.displayText), indent: 11, label: "note: ") }
  }

  private static func heading(_ outcome: ApprovalChange.Outcome) -> (String, Tone) {
    switch outcome {
    case .created: ("created", .good)
    case .replaced: ("replaced", .good)
    case .unchanged: ("unchanged", .faint)
    case .skipped: ("skipped", .unsure)
    }
  }

  /// The medians before and after.
  private static func medians(_ change: ApprovalChange) -> Table {
    let names = Set(change.before.keys).union(change.after.keys)
    let ordered = names.sorted(by: MetricName.isListedBefore)
    let isNew = change.before.isEmpty
    func unit(_ metric: MetricName) -> String {
      metric.unit(perIteration: change.growthIsPerIteration, reported: change.units[metric])
    }
    func amount(_ value: Double?, _ metric: MetricName) -> Table.Cell {
      Table.Cell(value.map { Format.plainAmount($0, unit: unit(metric)) } ?? "none")
    }
    let columns: [Table.Column] = [.init(side: .left), .init(), .init(gap: 1), .init(gap: 1), .init(), .init()]
    return Table(
      columns: Array(columns.prefix(isNew ? 2 : 6)),
      rows: ordered.map { metric in
        let (before, after) = (change.before[metric], change.after[metric])
        let label = Table.Cell(TerminalText.safe(metric.text) + MetricUnit.suffix(of: unit(metric)))
        guard !isNew else { return [label, amount(after, metric)] }
        return [label, amount(before, metric), "to", amount(after, metric)]
          + difference(before, after, unit: unit(metric))
      }
    )
  }

  private static func difference(_ before: Double?, _ after: Double?, unit: String) -> [Table.Cell] {
    guard let before, let after, before != after else { return ["", ""] }
    let percent = before <= 0 ? nil : (after - before) / before * 100
    let text = Format.difference(after - before, unit: unit).dropLast(MetricUnit.suffix(of: unit).count)
    return [Table.Cell(String(text)), Table.Cell(Format.percent(percent))]
  }

  private static func counts(_ changes: [ApprovalChange]) -> String {
    let words = changes.map { heading($0.outcome).0 }
    let parts = ["created", "replaced", "unchanged", "skipped"].compactMap { word -> String? in
      let count = words.count { $0 == word }
      return count == 0 ? nil : "\(count)\(Format.space)\(word)"
    }
    return parts.isEmpty ? "nothing to approve" : "baselines: " + parts.joined(separator: ", ")
  }
}
