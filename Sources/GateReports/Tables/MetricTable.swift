import GateCore

/// The metrics of one scenario as a table, beside the baseline where there is one.
struct MetricTable {
  let scenario: ScenarioResult
  let metrics: [MetricResult]
  let indent: Int

  var hasBaseline: Bool { metrics.contains { $0.baseline != nil } }

  /// Leaves out the column `allowed`, which the sentences below the table repeat, before it cuts a name.
  func write(to page: inout TerminalPage) {
    guard !metrics.isEmpty else { return }
    let style = page.style
    let tables = hasBaseline ? [comparison(style, .shown), comparison(style, .left)] : [measurement(style)]
    let uncut = tables.lazy.compactMap { $0.lines(indent: indent, style: style, leastFirst: .max) }.first
    let cut = { tables.lazy.compactMap { $0.lines(indent: indent, style: style) }.first }
    if let lines = uncut ?? cut() {
      page.lines(lines)
    } else {
      writeStacked(to: &page)
    }
  }

  enum AllowedColumn {
    case shown, left
  }

  func comparison(_ style: TerminalStyle, _ allowed: AllowedColumn) -> Table {
    let columns: [Table.Column] = [
      .init(title: "metric", side: .left), .init(title: "baseline"), .init(title: "", gap: 1),
      .init(title: "now", gap: 1), .init(title: "change"), .init(title: ""),
    ]
    let rows = metrics.map { metric in
      let tone = metric.verdict == .pass ? nil : metric.verdict.tone
      let baseline = metric.baseline.map { Format.plainAmount($0.median, unit: metric.unit) } ?? ""
      let cells = [
        Table.Cell(metric.metric.label(unit: metric.unit)), .init(baseline),
        .init(baseline.isEmpty ? "" : style.arrow, .faint),
        .init(now(metric, style)), .init(metric.change.map { Self.signed($0.absolute, metric) } ?? "", tone),
        .init(Format.percent(metric.change?.percent), tone),
      ]
      let limit = allowed == .shown ? [Table.Cell(allowedText(metric, style), .faint)] : []
      return cells + limit + [.init(word(metric), tone)]
    }
    let last = Table.Column(title: "", side: .left)
    return Table(columns: columns + (allowed == .shown ? [.init(title: "allowed"), last] : [last]), rows: rows)
  }

  func measurement(_ style: TerminalStyle) -> Table {
    let rows = metrics.map { metric -> [Table.Cell] in
      let tone = metric.verdict == .pass ? nil : metric.verdict.tone
      return [
        Table.Cell(metric.metric.label(unit: metric.unit)), .init(now(metric, style)), .init(range(of: metric, style)),
        .init(word(metric), tone),
      ]
    }
    return Table(
      columns: [
        .init(title: "metric", side: .left), .init(title: "now"), .init(title: "range", side: .left),
        .init(title: "", side: .left),
      ],
      rows: rows
    )
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

  /// A difference without what it is counted per, which the metric's label says.
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

  private func writeStacked(to page: inout TerminalPage) {
    for metric in metrics {
      let verdict = word(metric)
      page.paragraph(
        metric.metric.label(unit: metric.unit) + (verdict.isEmpty ? "" : ": \(verdict)"), indent: indent,
        tone: metric.verdict == .pass ? nil : metric.verdict.tone
      )
      page.paragraph(stacked(metric, page.style).joined(separator: ", "), indent: indent + 2)
    }
  }

  private func stacked(_ metric: MetricResult, _ style: TerminalStyle) -> [String] {
    let now = metric.current.map { Format.amount($0.median, unit: metric.unit) } ?? "unknown"
    let before = metric.baseline.map { "\(Format.amount($0.median, unit: metric.unit)) \(style.arrow) " } ?? ""
    let change = metric.change.map { [Format.difference($0.absolute, unit: metric.unit)] } ?? []
    let percent = metric.change?.percent.map { [Format.percent($0)] } ?? []
    let allowed = allowedText(metric, style)
    return [before + now] + change + percent + (allowed.isEmpty ? [] : ["allowed " + allowed])
  }
}
