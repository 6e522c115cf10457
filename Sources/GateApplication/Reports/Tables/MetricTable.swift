import GateCore

/// The metrics of one scenario as a table, with the baseline if there is one.
struct MetricTable {
  let scenario: ScenarioResult
  let metrics: [MetricResult]

  var hasBaseline: Bool { metrics.contains { $0.baseline != nil } }

  func table(_ style: TerminalStyle) -> Table {
    hasBaseline ? comparison(style) : measurement(style)
  }

  /// The sentences below the table repeat the allowed change, so this column is left out if the table is too wide.
  private func comparison(_ style: TerminalStyle) -> Table {
    Table(
      columns: [
        nameColumn, .init(title: scenario.sides.before), .init(gap: 1, isSeparator: true),
        .init(title: scenario.sides.now, gap: 1), .init(title: "change"), .init(), .init(title: "allowed", rank: 1),
        .init(side: .left),
      ],
      rows: metrics.map { metric in
        let (row, tone) = (row(metric, style), metric.verdict == .pass ? nil : metric.verdict.tone)
        return [
          .init(shortened(row.label, metric, style)), .init(row.baseline),
          .init(row.baseline.isEmpty ? "" : style.arrow, .faint), .init(row.now),
          .init(row.change, tone), .init(row.percent, tone), .init(row.allowed, .faint), .init(word(metric), tone),
        ]
      })
  }

  /// The texts of a comparison; those that do not apply are empty.
  struct Row {
    let label, baseline, now, change, percent, allowed: String
  }

  func row(_ metric: MetricResult, _ style: TerminalStyle) -> Row {
    Row(
      label: metric.metric.label(unit: metric.unit),
      baseline: metric.baseline.map { Format.plainAmount($0.median, unit: metric.unit) } ?? "",
      now: now(metric, style),
      change: metric.change.map { Self.signed($0.absolute, metric) } ?? "",
      percent: Format.percent(metric.change?.percent),
      allowed: allowedText(metric, style))
  }

  private func measurement(_ style: TerminalStyle) -> Table {
    Table(
      columns: [
        nameColumn, .init(title: "now"), .init(title: "range", side: .left), .init(side: .left),
      ],
      rows: metrics.map { metric in
        [
          .init(shortened(metric.metric.label(unit: metric.unit), metric, style)), .init(now(metric, style)),
          .init(range(of: metric, style)),
          .init(word(metric), metric.verdict == .pass ? nil : metric.verdict.tone),
        ]
      })
  }

  /// The most columns of a metric of a phase or of a test; the sentences below the table have its whole name.
  private static let longestOfPhase = 30

  /// The names of phases, as those of a suite's tests, often differ at their end only.
  private var nameColumn: Table.Column {
    .init(title: "metric", side: .left, cut: metrics.contains(where: \.isNamedByTarget) ? .start : .middle)
  }

  private func shortened(_ label: String, _ metric: MetricResult, _ style: TerminalStyle) -> String {
    guard metric.isNamedByTarget else { return label }
    return TerminalText.cut(label, to: Self.longestOfPhase, at: .start, mark: style.ellipsis)
  }

  private func now(_ metric: MetricResult, _ style: TerminalStyle) -> String {
    metric.current.map { Format.plainAmount($0.median, unit: metric.unit) } ?? style.dash
  }

  private func range(of metric: MetricResult, _ style: TerminalStyle) -> String {
    guard let values = scenario.values(of: metric.metric), let range = values.range, values.count > 1 else { return "" }
    let ends = [range.lowerBound, range.upperBound].map { Format.plainAmount($0, unit: metric.unit) }
    return ends.joined(separator: " \(style.dash) ") + " (\(values.count) repetitions)"
  }

  /// The rise that the tolerance allows, or else the limit.
  private func allowedText(_ metric: MetricResult, _ style: TerminalStyle) -> String {
    if let allowed = metric.allowed { return Self.signed(allowed, metric) }
    guard let limit = metric.rule.limit else { return "" }
    return (style.unicode ? "≤ " : "<= ") + Format.plainAmount(limit.value, unit: metric.unit)
  }

  /// A difference without its denominator, which the metric's label has.
  private static func signed(_ value: Double, _ metric: MetricResult) -> String {
    let text = Format.difference(value, unit: metric.unit)
    return String(text.dropLast(MetricUnit.suffix(of: metric.unit).count))
  }

  /// The verdict, unless it is `pass` or stated above the table.
  private func word(_ metric: MetricResult) -> String {
    if metric.isWarning { return "warning" }
    let isKnown = metric.verdict == .pass || (metric.verdict == .noBaseline && !hasBaseline)
    return isKnown ? "" : metric.verdict.rawValue
  }
}

extension MetricResult {
  /// Whether it is of a phase or of a test, whose names are any text.
  fileprivate var isNamedByTarget: Bool { metric.inPhase != nil || metric.isOfSuite }
}
