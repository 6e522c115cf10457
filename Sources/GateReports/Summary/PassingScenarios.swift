import GateCore

/// Passing scenarios in one line each, with their main values.
struct PassingScenarios {
  private let scenarios: [ScenarioResult]

  init(_ scenarios: [ScenarioResult]) {
    self.scenarios = scenarios
  }

  private static let shown: [(metric: MetricName, title: String)] = [
    (.peakRSS, "peak"), (.steadyRSS, "steady"), (.growth, "growth"), (.treePeak, "tree"), (.spike, "spike"),
    (.faultRate, "faults"),
  ]

  /// Values are left out before a name is cut to less than 40 columns.
  func write(to page: inout TerminalPage) {
    guard !scenarios.isEmpty else { return }
    let style = page.style
    let shown = Self.shown.filter { metric, _ in
      scenarios.contains { $0.metrics.contains { $0.metric == metric && $0.current != nil } }
    }
    let columns = (1...max(1, shown.count)).flatMap { rank in
      [
        Table.Column(side: .left, gap: 3, rank: rank), Table.Column(gap: 1, rank: rank),
        Table.Column(gap: 1, rank: rank),
      ]
    }
    let rows = scenarios.map { scenario in
      [
        Table.Cell(scenario.verdict.heading(style), scenario.verdict.tone),
        .init(TerminalText.safe(scenario.name.text)),
      ] + shown.flatMap { metric, title in Self.cells(scenario.metrics.first { $0.metric == metric }, title) }
    }
    Table(
      columns: [.init(side: .left), .init(side: .left)] + columns.prefix(shown.count * 3), rows: rows, flexible: 1
    ).write(to: &page, indent: 0, limits: [40, 12])
  }

  private static func cells(_ metric: MetricResult?, _ title: String) -> [Table.Cell] {
    guard let metric, let current = metric.current else { return ["", "", ""] }
    let change = metric.change.map { change in
      Format.change(percent: change.percent, absolute: change.absolute, unit: metric.unit)
    }
    return [.init(title), .init(Format.amount(current.median, unit: metric.unit)), .init(change ?? "")]
  }
}
