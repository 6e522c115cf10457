import GateCore

/// Baselines that cannot be compared with as text.
enum BaselineDefectText {
  /// The error of a command that measures nothing.
  static func diagnostic(_ defect: BaselineDefect, at path: String) -> Diagnostic {
    Diagnostic(
      place: path, problem: TerminalText.safe(defect.displayText),
      hint: "measure the scenario with `highwater check NAME`, then settle it with `highwater approve NAME`")
  }
}

extension BaselineDefect {
  var displayText: String {
    switch self {
    case .mergeConflict(let ours, let theirs):
      "the baseline has an unresolved merge conflict: ours is \(Self.text(ours)), theirs is \(Self.text(theirs))"
    case .changed(let approval):
      "the baseline is not as it was \(approval.displayText): it was edited, or a merge took parts of two baselines"
    }
  }

  /// As in `peak_rss 22.0 MiB (commit 4f2a91c0d, approved by Ada on 2026-01-02: the new cache)`.
  private static func text(_ side: ApprovedMedian?) -> String {
    guard let side else { return "unreadable" }
    let commit = side.approval.commit.map { "commit \(CommitText.short($0, isDirty: side.approval.isDirty)), " } ?? ""
    let value = Format.amount(side.median, unit: side.unit)
    return "\(side.metric) \(value) (\(commit)\(side.approval.displayText))"
  }
}
