import GateCore

/// The repetitions of a scenario, one in a row.
struct RepetitionTable {
  let scenario: ScenarioResult
  let indent: Int

  /// Shows as many metrics as fit, the main ones first.
  func write(to page: inout TerminalPage) {
    let names = metrics
    for count in stride(from: names.count, through: 0, by: -1) {
      guard let lines = table(names.prefix(count)).lines(indent: indent, style: page.style) else { continue }
      page.lines(lines)
      return
    }
  }

  var metrics: [MetricName] {
    let known = Set(scenario.repetitions.flatMap(\.allMetrics.keys))
    let judged = scenario.metrics.map(\.metric).filter(known.contains)
    let rest = (MetricName.wholeRun + known.filter(\.isValue).sorted())
      .filter { known.contains($0) && !judged.contains($0) }
    return judged + rest
  }

  func table(_ metrics: ArraySlice<MetricName>) -> Table {
    let columns: [Table.Column] =
      [.init(title: "repetition"), .init(title: "time")]
      + metrics.map { .init(title: TerminalText.safe($0.text)) } + [.init(title: "end", side: .left)]
    let rows = scenario.repetitions.enumerated().map { index, repetition in
      let values = repetition.allMetrics
      let cells = metrics.map { metric in
        let unit = scenario.unit(of: metric)
        return Table.Cell(values[metric].map { Format.plainAmount($0, unit: unit) } ?? "")
      }
      let head = [Table.Cell("\(index + 1)"), Table.Cell(Format.time(repetition.duration))]
      return head + cells + [Table.Cell(TerminalText.cut(Self.end(repetition), to: 24, mark: ""))]
    }
    return Table(columns: columns, rows: rows)
  }

  private static func end(_ repetition: RepetitionResult) -> String {
    let end = repetition.end
    return TerminalText.safe(End(end.kind, code: end.code, signal: end.signal).displayText)
  }
}
