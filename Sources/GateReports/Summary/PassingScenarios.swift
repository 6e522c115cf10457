import GateCore

/// Scenarios in one line each, with the main values.
struct PassingScenarios {
  private let scenarios: [ScenarioResult]

  init(_ scenarios: [ScenarioResult]) {
    self.scenarios = scenarios
  }

  /// The widest that the column of names gets.
  private static let widestName = 40

  func write(to page: inout TerminalPage) {
    let style = page.style
    let verdictWidth = scenarios.map { TerminalText.columns($0.verdict.heading(style)) }.max() ?? 0
    let names = scenarios.map { TerminalText.columns(TerminalText.safe($0.name.text)) }
    let room = style.width - verdictWidth - 2
    let nameWidth = min(names.max() ?? 0, max(Self.widestName, room - 24), room)
    let columns = valueColumns(fitting: room - nameWidth, style: style)
    for (index, scenario) in scenarios.enumerated() {
      let name = TerminalText.cut(
        TerminalText.safe(scenario.name.text), to: nameWidth, at: .middle, mark: style.ellipsis
      )
      let head = TerminalText.padded(scenario.verdict.heading(style), to: verdictWidth)
      let values = columns.map { $0[index] }.joined()
      let row = TerminalText.padded(name, to: nameWidth) + values
      page.line(style.painted(head, scenario.verdict.tone) + "  " + Self.trimmed(row))
    }
  }

  /// The columns of values that fit, one text for each scenario, each with its gap before it.
  private func valueColumns(fitting room: Int, style: TerminalStyle) -> [[String]] {
    let shown: [(metric: MetricName, title: String)] = [
      (.peakRSS, "peak"), (.steadyRSS, "steady"), (.growth, "growth"), (.treePeak, "tree"), (.spike, "spike"),
      (.faultRate, "faults"),
    ]
    var columns: [[String]] = []
    var used = 0
    for (metric, title) in shown {
      let column = values(of: metric, title: title)
      let width = column.map(TerminalText.columns).max() ?? 0
      guard width > 0 else { continue }
      guard used + width <= room else { break }
      columns.append(column.map { TerminalText.padded($0, to: width) })
      used += width
    }
    return columns
  }

  private func values(of metric: MetricName, title: String) -> [String] {
    let results = scenarios.map { scenario in scenario.metrics.first { $0.metric == metric } }
    let amounts = results.map { result in
      result.flatMap { result in result.current.map { Format.amount($0.median, unit: result.unit) } } ?? ""
    }
    let changes = results.map { result -> String in
      guard let result, let change = result.change else { return "" }
      return change.percent == nil
        ? Format.difference(change.absolute, unit: result.unit) : Format.percent(change.percent)
    }
    let amountWidth = amounts.map(TerminalText.columns).max() ?? 0
    let changeWidth = changes.map(TerminalText.columns).max() ?? 0
    return zip(amounts, changes).map { amount, change in
      guard !amount.isEmpty else { return "" }
      let tail = changeWidth == 0 ? "" : " " + TerminalText.padded(change, to: changeWidth, on: .right)
      return "   \(title) " + TerminalText.padded(amount, to: amountWidth, on: .right) + tail
    }
  }

  private static func trimmed(_ text: String) -> String {
    String(text.reversed().drop { $0 == " " }.reversed())
  }
}
