import GateCore

/// What people review: the first member of a file of baselines, `summary`, which no program reads.
///
/// It leaves out metrics that differ from run to run (``WholeRunMetric/WithoutRule``).
struct ReviewSummary {
  /// The texts, in the order in which reports list their metrics.
  private let lines: [(metric: MetricName, text: String)]

  private init(_ texts: [MetricName: String]) {
    lines = texts.filter { $0.key.counts(.reviewed) }.sorted { MetricName.isListedBefore($0.key, $1.key) }
      .map { ($0.key, $0.value) }
  }

  /// As in `"peak_rss" : "4.7 MiB"`.
  init(of baseline: Baseline) {
    self.init(
      baseline.medians.reduce(into: [:]) { $0[$1.key] = MetricUnit.text(of: $1.value, unit: baseline.unit(of: $1.key)) }
    )
  }

  /// As in `"peak_rss" : "4.7 MiB → 5.2 MiB (+9.3 %)"`.
  init(of change: BaselineChange) {
    self.init(
      change.moves.reduce(into: [:]) { texts, move in
        let unit = change.unit(of: move.key)
        let (from, to) = (move.value.from, move.value.to)
        let percent = from > 0 ? (to - from) / from * 100 : nil
        texts[move.key] =
          MetricUnit.text(of: from, unit: unit) + " → " + MetricUnit.text(of: to, unit: unit)
          + (percent.map { " (\($0 > 0 ? "+" : "")\(Decimals.text($0, places: 1)) %)" } ?? "")
      })
  }

  /// The file of an indented JSON object with the summary before its other members.
  func before(_ object: [UInt8]) -> [UInt8] {
    let members = lines.map { line in
      let parts = [line.metric.text, line.text].map { JSON.encode($0, .line).dropLast() }
      return Array("    ".utf8) + parts[0] + Array(" : ".utf8) + parts[1]
    }
    let summary = Array("{\n  \"summary\" : {\n".utf8) + members.joined(separator: Array(",\n".utf8))
    return summary + Array("\n  },".utf8) + object.dropFirst()
  }
}
