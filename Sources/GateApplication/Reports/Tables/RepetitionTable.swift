import GateCore

/// The repetitions of a scenario, one per row.
struct RepetitionTable {
  let scenario: ScenarioResult

  /// The judged metrics come first; if the table is too wide, the last ones are left out.
  var table: Table {
    let metrics = metrics
    let columns: [Table.Column] =
      [.init(title: "repetition"), .init(title: "time")]
      + metrics.enumerated().map { rank, metric in
        .init(title: metric.label(unit: scenario.unit(of: metric)), rank: rank + 1)
      }
      + [.init(title: "end", side: .left)]
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

  private var metrics: [MetricName] {
    let known = Set(scenario.repetitions.flatMap(\.allMetrics.keys))
    let judged = scenario.metrics.map(\.metric).filter(known.contains)
    let others = MetricName.wholeRun.filter(known.contains) + known.filter(\.isValue).sorted()
    return judged + others.filter { !judged.contains($0) }
  }

  private static func end(_ repetition: RepetitionResult) -> String {
    let end = repetition.end
    return TerminalText.safe(End(end.kind, code: end.code, signal: end.signal).displayText)
  }
}
