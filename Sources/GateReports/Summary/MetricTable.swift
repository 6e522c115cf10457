import GateCore

/// The metrics of one scenario against their baselines, as a table.
struct MetricTable {
  let metrics: [MetricResult]
  let indent: Int

  func write(to page: inout Page) {
    guard !metrics.isEmpty else { return }
    let style = page.style
    if let lines = table(style, withAllowed: true).lines(indent: indent, style: style) {
      page.lines(lines)
    } else if let lines = table(style, withAllowed: false).lines(indent: indent, style: style) {
      page.lines(lines)
    } else {
      writeStacked(to: &page)
    }
  }

  private func table(_ style: TerminalStyle, withAllowed: Bool) -> Table {
    let hasBaseline = metrics.contains { $0.baseline != nil }
    var columns: [Table.Column] = [.init(title: "metric", side: .left)]
    if hasBaseline {
      columns += [.init(title: "baseline"), .init(title: "", gap: 1), .init(title: "now", gap: 1)]
      columns += [.init(title: "change"), .init(title: "")]
    } else {
      columns.append(.init(title: "now"))
    }
    if withAllowed, hasBaseline { columns.append(.init(title: "allowed")) }
    columns.append(.init(title: "", side: .left))
    return Table(
      columns: columns,
      rows: metrics.map { row($0, style, hasBaseline: hasBaseline, withAllowed: withAllowed && hasBaseline) }
    )
  }

  private func row(
    _ metric: MetricResult,
    _ style: TerminalStyle,
    hasBaseline: Bool,
    withAllowed: Bool
  ) -> [Table.Cell] {
    func amount(_ value: Double?) -> String {
      value.map { Figures.plainAmount($0, unit: metric.unit) } ?? style.dash
    }
    let tone = metric.verdict == .pass ? nil : metric.verdict.tone
    var cells = [Table.Cell(metric.label)]
    if hasBaseline {
      let change = metric.change.map { Self.signed($0.absolute, metric) } ?? ""
      cells += [.init(amount(metric.baseline?.median)), .init(style.arrow, .faint)]
      cells += [.init(amount(metric.current?.median)), .init(change, tone)]
      cells.append(.init(Figures.percent(metric.change?.percent), tone))
    } else {
      cells.append(.init(amount(metric.current?.median)))
    }
    if withAllowed { cells.append(.init(metric.allowed.map { Self.signed($0, metric) } ?? "", .faint)) }
    return cells + [.init(Self.word(metric), tone)]
  }

  /// A difference without what it is counted per, which the label says.
  private static func signed(_ value: Double, _ metric: MetricResult) -> String {
    let text = Figures.difference(value, unit: metric.unit)
    return String(text.dropLast(Figures.suffix(of: metric.unit).count))
  }

  private static func word(_ metric: MetricResult) -> String {
    if metric.isWarning { return "warning" }
    return metric.verdict == .pass ? "" : metric.verdict.rawValue
  }

  private func writeStacked(to page: inout Page) {
    for metric in metrics {
      let verdict = Self.word(metric)
      page.paragraph(
        metric.label + (verdict.isEmpty ? "" : ": \(verdict)"), indent: indent,
        tone: metric.verdict == .pass ? nil : metric.verdict.tone
      )
      let now = metric.current.map { Figures.amount($0.median, unit: metric.unit) } ?? "unknown"
      var parts = [now]
      if let baseline = metric.baseline {
        parts = ["\(Figures.amount(baseline.median, unit: metric.unit)) \(page.style.arrow) \(now)"]
      }
      if let change = metric.change { parts.append(Figures.difference(change.absolute, unit: metric.unit)) }
      if let percent = metric.change?.percent { parts.append(Figures.percent(percent)) }
      if let allowed = metric.allowed { parts.append("allowed " + Figures.difference(allowed, unit: metric.unit)) }
      page.paragraph(parts.joined(separator: ", "), indent: indent + 2)
    }
  }
}
