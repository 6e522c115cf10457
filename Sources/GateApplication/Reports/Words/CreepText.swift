import GateCore

extension Creep {
  /// How far the metric has crept up, since when and in which steps.
  var displayText: String {
    let percent = anchor.level > 0 ? Format.bracketedPercent(rise / anchor.level * 100) : ""
    let commit = anchor.commit.map { ", commit \(CommitText.short($0))" } ?? ""
    return "\(metric) has crept up by \(Format.amount(rise, unit: unit))\(percent) \(span.displayText), from "
      + "\(Format.amount(anchor.level, unit: unit)) (\(anchor.at.day)\(commit))"
  }
}

extension Creep.Span {
  fileprivate var displayText: String {
    switch self {
    case .approvals: "over several approvals, each within the tolerance"
    case .runs(let count): "over \(count) runs, each within the tolerance"
    }
  }
}
