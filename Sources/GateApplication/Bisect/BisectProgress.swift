import GateCore

/// The progress of a bisection, a line for each commit.
enum BisectProgress {
  /// As in `4f2a91c0d  commit 104 of 200, about 7 builds left  Cache decoded rows`.
  static func started(
    _ commit: String,
    _ subject: String?,
    number: Int,
    of last: Int,
    buildsLeft: Int
  ) -> String {
    let left = buildsLeft > 0 ? ", about \(Format.count(buildsLeft, "build")) left" : ""
    let head = "\(CommitText.short(commit))  commit \(number) of \(last)\(left)"
    let subject = TerminalText.cut(TerminalText.safe(subject ?? ""), to: 77 - TerminalText.columns(head), mark: "...")
    return TerminalText.withPlainSpaces(subject.isEmpty ? head : "\(head)  \(subject)")
  }

  /// What was learned of a commit, as in `  load: like the good end`.
  static func answer(at index: Int, of bisection: Bisection, scenario: ScenarioName?) -> String {
    let name = scenario.map { "\(TerminalText.safe($0.text)): " } ?? ""
    let text = TerminalText.cut("  \(name)\(bisection.answerText(at: index))", to: 79, mark: "...")
    return TerminalText.withPlainSpaces(text)
  }

  static func resumed(_ count: Int) -> String {
    "resuming with \(Format.count(count, "result")) from an earlier run (use --restart to discard them)"
  }

  static func narrowed(to count: Int, from whole: Int) -> String {
    "the history shows the step in \(count == 1 ? "1" : "\(count)") of the \(whole) commits: searching there"
  }

  static let notInHistory = "the step seen in the history was not reproduced; searching the whole range"
}

extension Bisection {
  fileprivate func answerText(at index: Int) -> String {
    switch answers[index] {
    case nil: "failed"
    case .notBuilt: "cannot be built: skipped"
    case .failed(let failure): "failed: skipped (\(TerminalText.safe(failure.problemText)))"
    case .outOfMemory: index == last ? "the bad end runs out of memory" : "out of memory, like the bad end"
    case .measured where index == last: endsText
    case .measured: placeText(of: index)
    }
  }

  private var endsText: String {
    guard let change = searched?.changeText else { return "the ends do not differ" }
    return "the ends differ: \(change)"
  }

  private func placeText(of index: Int) -> String {
    guard let searched else { return "enough memory, like the good end" }
    let (rises, whole) = (rises, rises.last?.rise ?? 0)
    guard let rise = rises.first(where: { $0.index == index })?.rise, whole > 0 else { return "not measured: skipped" }
    let text = "\(Format.difference(rise, unit: searched.unit)) of \(Format.difference(whole, unit: searched.unit))"
    switch rise / whole {
    case ..<0.25: return "like the good end: \(text)"
    case 0.75...: return "like the bad end: \(text)"
    default: return "between the ends: \(text)"
    }
  }
}

extension MetricResult {
  /// As in `peak_rss 24.1 MiB to 26.5 MiB (+10.0 %)`.
  var changeText: String? {
    guard let baseline, let current, let change else { return nil }
    let ends = [baseline.median, current.median].map { Format.amount($0, unit: unit) }
    let percent = metric.isRate ? nil : change.percent
    return "\(metric) \(ends[0]) to \(ends[1]) (\(Format.change(percent: percent, absolute: change.shift, unit: unit)))"
  }
}
