import FoundationEssentials
import GateCore

/// The runs of a history, one per line.
enum HistoryReport {
  /// The table, with the latest run last.
  ///
  /// - Parameters:
  ///   - runs: In order of time.
  ///   - scenarios: If not empty, the verdict and the change refer to these scenarios instead of the whole run.
  ///   - style: The capabilities of the terminal.
  /// - Returns: the lines; empty if there are no runs.
  static func text(_ runs: [RunSummary], of scenarios: [ScenarioName], style: TerminalStyle) -> String {
    guard !runs.isEmpty else { return "" }
    var page = TerminalPage(style)
    var table = Table(columns: [
      .init(title: "date (UTC)", side: .left), .init(title: "commit", side: .left), .init(title: "branch", side: .left),
      .init(title: "verdict", side: .left), .init(title: "largest change", side: .left),
    ])
    let rest = style.width - widthBesidesTexts - (runs.contains(where: \.run.isDirty) ? 6 : 0)
    let branch = min(max(8, rest / 3), runs.map { TerminalText.columns(branchText($0)) }.reduce("branch".count, max))
    table.rows = runs.map { row($0, of: scenarios, style, branchWidth: branch, changeWidth: max(12, rest - branch)) }
    table.write(to: &page, indent: 0)
    return page.text
  }

  /// The maximum width of a line without the branch and the change; commits such as `4f2a91c0d` have 9 columns.
  private static let widthBesidesTexts = 45

  private static func row(
    _ run: RunSummary,
    of names: [ScenarioName],
    _ style: TerminalStyle,
    branchWidth: Int,
    changeWidth: Int
  ) -> [Table.Cell] {
    let scenarios = names.isEmpty ? run.scenarios : run.scenarios.filter { names.contains($0.name) }
    let verdict = Verdict.combined(scenarios.map(\.verdict))
    let change = verdict.flatMap { LargestChange(in: scenarios, $0)?.text(width: changeWidth, style) } ?? ""
    return [
      Table.Cell(run.run.startedAt.minute),
      Table.Cell(TerminalText.safe(run.run.commitText() ?? "-")),
      Table.Cell(TerminalText.cut(branchText(run), to: branchWidth, at: .middle, mark: style.ellipsis)),
      Table.Cell(verdict?.rawValue ?? "-", verdict?.tone),
      Table.Cell(change),
    ]
  }

  private static func branchText(_ run: RunSummary) -> String { TerminalText.safe(run.run.branch ?? "-") }
}

/// What decided a run, or else what changed most in it.
private struct LargestChange {
  let scenario: ScenarioSummary
  /// nil for a scenario that failed.
  let metric: MetricResult?
  /// The number of other metrics with the same verdict.
  let others: Int
  private let isAlone: Bool

  init?(in scenarios: [ScenarioSummary], _ verdict: Verdict) {
    let decisive = scenarios.filter { $0.verdict == verdict }
    isAlone = scenarios.count == 1
    if verdict == .failed, let failed = decisive.first {
      (scenario, metric, others) = (failed, nil, decisive.count - 1)
      return
    }
    let gated = decisive.flatMap { scenario in scenario.metrics.map { (scenario, $0) } }
    let deciding = gated.filter { $0.1.verdict == verdict }
    let candidates = verdict == .pass || deciding.isEmpty ? gated.filter { $0.1.change?.percent != nil } : deciding
    func size(_ metric: MetricResult) -> Double { metric.change?.percent?.magnitude ?? 0 }
    guard let largest = candidates.max(by: { size($0.1) < size($1.1) }) else { return nil }
    (scenario, metric) = (largest.0, largest.1)
    others = [.pass, .noBaseline].contains(verdict) ? 0 : deciding.count - 1
  }

  /// As in `api peak_rss +6.3 %, 2 more`, or as in `api timeout`; without the name of the only scenario.
  func text(width: Int, _ style: TerminalStyle) -> String {
    let rest = change + (others > 0 ? ", \(others) more" : "")
    let room = width - TerminalText.columns(rest) - 1
    guard !isAlone, room >= Self.leastName else { return TerminalText.cut(rest, to: width, mark: style.ellipsis) }
    return TerminalText.cut(TerminalText.safe(scenario.name.text), to: room, at: .middle, mark: style.ellipsis)
      + " " + rest
  }

  private static let leastName = 4

  private var change: String {
    guard let metric else {
      return scenario.failedRepetitions.first.map { $0.loop == nil ? $0.end.kind.rawValue : "loop" } ?? ""
    }
    let shown = metric.metric == .limit ? metric.rule.limit?.value : metric.current?.median
    let amount = shown.map { Format.amount($0, unit: metric.unit) } ?? ""
    return "\(TerminalText.safe(metric.metric.text)) "
      + (metric.change.flatMap { $0.percent.map(Format.percent) } ?? amount)
  }
}
