import GateCore

/// The report of `approve` on the baselines that it wrote.
enum ApprovalReport {
  /// `isQuiet` leaves what was refused, and the counts.
  static func text(_ changes: [ApprovalChange], style: TerminalStyle, isQuiet: Bool = false) -> String {
    var page = TerminalPage(style)
    if isQuiet {
      for change in changes where change.isRefused { write(change, to: &page) }
      page.paragraph(counts(changes), indent: 0, tone: .strong)
      return page.text
    }
    let isShort = changes.count { $0.reasonToKeep != nil } > mostUnchanged
    for change in changes where !isShort || change.reasonToKeep == nil || !change.creeps.isEmpty {
      write(change, to: &page)
    }
    if isShort { writeUnchanged(changes, to: &page) }
    page.gap()
    page.paragraph(counts(changes), indent: 0, tone: .strong)
    if let approval = changes.lazy.compactMap(\.approval).first { write(approval, to: &page) }
    let unexplained = changes.count(where: \.lacksProfile)
    if unexplained > 0 {
      let text =
        "no profile came with the result of \(Format.count(unexplained, "scenario")), so the next rise cannot be "
        + "explained; `--from` accepts the folder of the artifacts, which has the profiles"
      page.paragraph(text, indent: 0, label: "note: ")
    }
    if changes.contains(where: { $0.approval != nil }) {
      page.paragraph("commit the changed files, so that later checks compare with them", indent: 0)
    }
    return page.text
  }

  /// More are only counted.
  private static let mostUnchanged = 20

  private static func writeUnchanged(_ changes: [ApprovalChange], to page: inout TerminalPage) {
    let counts = changes.compactMap(\.reasonToKeep).reduce(into: [:]) { $0[$1.displayText, default: 0] += 1 }
    for (reason, count) in counts.sorted(by: { $0.key < $1.key }) {
      page.line(page.style.painted("unchanged", .faint) + "  " + Format.count(count, "scenario"))
      page.paragraph("each: " + reason, indent: 11)
    }
  }

  /// Writes what all written baselines have in common.
  private static func write(_ approval: Approval, to page: inout TerminalPage) {
    page.paragraph(TerminalText.safe(approval.signature), indent: 0)
    guard approval.isDirty, let commit = approval.commit else { return }
    let text = "measured with uncommitted changes to commit \(TerminalText.safe(CommitText.short(commit)))"
    page.paragraph("\(text); the baselines are marked `dirty`", indent: 0, label: "note: ")
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
    case .created, .replaced, .changed, .folded, .moved:
      medians(change, style).write(to: &page, indent: 11)
      if let tests = change.tests { page.paragraph(tests.displayText, indent: 11) }
      if let count = count(change) { page.paragraph(count, indent: 11) }
      if let growth = change.hiddenGrowth { page.paragraph(growth.displayText, indent: 11, label: "note: ") }
      if case .moved(let environment, let commit, let differences) = change.outcome {
        page.paragraph(origin(environment, commit, differences), indent: 11)
      }
      page.line("           " + style.painted(TerminalText.safe(change.path), .faint))
    case .unchanged(let reason): page.paragraph(reason.displayText, indent: 11)
    case .skipped(let reasons): write(reasons, to: &page)
    }
    for creep in change.creeps { page.paragraph(TerminalText.safe(creep.displayText), indent: 11, label: "note: ") }
  }

  private static func write(
    _ reasons: [ApprovalChange.SkipReason],
    to page: inout TerminalPage
  ) {
    for reason in reasons {
      page.paragraph(TerminalText.safe(reason.displayText), indent: 11)
      if let hint = reason.hintText {
        page.paragraph(TerminalText.safe(hint), indent: 11, label: "hint: ")
      }
    }
    if reasons.allSatisfy(\.canBeOverridden) {
      page.paragraph("`--force` approves it anyway", indent: 11, label: "hint: ")
    }
  }

  private static func heading(_ outcome: ApprovalChange.Outcome) -> (String, Tone) {
    switch outcome {
    case .created: ("created", .good)
    case .replaced: ("replaced", .good)
    case .changed: ("changed", .good)
    case .folded: ("folded", .good)
    case .moved: ("moved", .good)
    case .unchanged: ("unchanged", .faint)
    case .skipped: ("skipped", .unsure)
    }
  }

  /// As in `commit 4f2c9e1, which has what was approved for linux-x86_64-2cpu (there → here): cpus 2 → 1`.
  private static func origin(_ environment: String, _ commit: String, _ differences: [Fingerprint.Difference]) -> String
  {
    let text = "commit \(CommitText.short(commit)), which has what was approved for \(TerminalText.safe(environment))"
    return text + (differences.isEmpty ? "" : " (there → here): " + TerminalText.safe(differences.displayText))
  }

  /// As in `medians of 10 repetitions (before: 5)`; nil if the number is unknown.
  private static func count(_ change: ApprovalChange) -> String? {
    guard change.countAfter > 0 else { return nil }
    let before = change.countBefore == 0 || change.countBefore == change.countAfter ? nil : change.countBefore
    let fewer = change.fewerValues.sorted { MetricName.isListedBefore($0.key, $1.key) }
      .map { "; \(TerminalText.safe($0.key.text)) of \($0.value)" }
    return "medians of \(Format.count(change.countAfter, "repetition"))" + (before.map { " (before: \($0))" } ?? "")
      + fewer.joined()
  }

  /// The medians before and after.
  private static func medians(_ change: ApprovalChange, _ style: TerminalStyle) -> Table {
    let names = Set(change.before.keys).union(change.after.keys)
    let ordered = names.sorted(by: MetricName.isListedBefore)
    let isNew = change.before.isEmpty
    func unit(_ metric: MetricName) -> String {
      metric.unit(perIteration: change.growthIsPerIteration, reported: change.units[metric])
    }
    func amount(_ value: Double?, _ metric: MetricName) -> Table.Cell {
      Table.Cell(value.map { Format.plainAmount($0, unit: unit(metric)) } ?? "none")
    }
    let columns: [Table.Column] = [
      .init(title: "metric", side: .left), .init(title: isNew ? "baseline" : "from"),
      .init(gap: 1, isSeparator: true), .init(title: "to", gap: 1), .init(title: "change"), .init(),
    ]
    return Table(
      columns: Array(columns.prefix(isNew ? 2 : 6)),
      rows: ordered.map { metric in
        let (before, after) = (change.before[metric], change.after[metric])
        let label = Table.Cell(metric.label(unit: unit(metric)))
        guard !isNew else { return [label, amount(after, metric)] }
        return [label, amount(before, metric), .init(style.arrow, .faint), amount(after, metric)]
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
    let parts = ["created", "changed", "folded", "moved", "replaced", "unchanged", "skipped"].compactMap {
      word -> String? in
      let count = words.count { $0 == word }
      return count == 0 ? nil : "\(count)\(Format.space)\(word)"
    }
    return parts.isEmpty ? "nothing to approve" : "baselines: " + parts.joined(separator: ", ")
  }
}

extension ApprovalChange {
  fileprivate var isRefused: Bool {
    if case .skipped = outcome { true } else { false }
  }

  fileprivate var reasonToKeep: KeepReason? {
    if case .unchanged(let reason) = outcome { reason } else { nil }
  }
}
