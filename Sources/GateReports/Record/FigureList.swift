import GateCore

/// The figures of a recorded command, each with what it means.
struct FigureList {
  let scenario: ScenarioResult

  /// Each metric with its name and what it means.
  private var shown: [(metric: MetricName, name: String, meaning: String)] {
    let basis = scenario.repetitions.last?.treeMethod ?? .upperBound
    let tree: [(MetricName, String, String)] = [
      (.treePeak, "tree peak", isRepeated ? basis.inShort : basis.words), (.treeSteady, "tree steady", "after warm-up"),
    ]
    let main: [(MetricName, String, String)] = [
      (.peakRSS, "peak", "the most it held (VmHWM)"), (.steadyRSS, "steady", "after warm-up"),
      (.growth, "growth", "in steady state"), (.spike, "spike", "above the steady level"),
      (.faultRate, "fault rate", "brought in by page faults"),
    ]
    // The tree of a single process has no figures of its own.
    return main + (scenario.repetitions.contains { $0.processes > 1 } ? tree : [])
  }

  private var isRepeated: Bool { scenario.repetitions.count > 1 }

  func table(_ style: TerminalStyle) -> Table {
    let titles = isRepeated ? ["", "median", "range", ""] : ["", "", "", ""]
    let columns = zip(titles, [.left, .right, .right, .left] as [TerminalText.Side])
      .map { Table.Column(title: $0, side: $1) }
    let whole = shown.filter { isShown($0.metric) }
    let rows = whole.map { row($0.metric, $0.name, $0.meaning, style: style) } + phaseRows(style) + valueRows(style)
    return Table(columns: columns, rows: rows + [processRow(style)])
  }

  func write(to page: inout Page) {
    let table = table(page.style)
    if let lines = table.lines(indent: 2, style: page.style) ?? table.prefix(3).lines(indent: 2, style: page.style) {
      page.lines(lines)
    } else {
      for row in table.rows {
        page.paragraph(row.prefix(3).map(\.text).joined(separator: " "), indent: 2)
      }
    }
    page.gap()
    for (label, text) in remarks { page.paragraph(text, indent: 2, label: label) }
  }

  /// What a column has no room for, each with its label.
  var remarks: [(label: String, text: String)] {
    let spike = scenario.highestSpike.flatMap { spike in
      spike.height > .zero ? "\(Format.amount(spike.height)) \(spike.circumstances)" : nil
    }
    let remarks: [(String, String?)] = [
      ("no steady state: ", scenario.unsteadinessText), ("growth: ", scenario.growthText),
      (isRepeated ? "highest spike: " : "spike: ", spike),
    ]
    return remarks.compactMap { label, text in text.map { (label, $0) } }
  }

  /// What is nearly always there is told of where it is missing, too.
  private func isShown(_ metric: MetricName) -> Bool {
    [.peakRSS, .steadyRSS, .treePeak].contains(metric) || scenario.figure(of: metric) != nil
  }

  private func row(_ metric: MetricName, _ name: String, _ meaning: String, style: TerminalStyle) -> [Table.Cell] {
    let unit = scenario.unit(of: metric)
    guard let figure = scenario.figure(of: metric) else {
      return [.init(name), .init(style.dash, .faint), "", .init(missing(metric), .faint)]
    }
    func amount(_ value: Double) -> String { Format.plainAmount(value, unit: unit) }
    let range = "\(amount(figure.lowest)) \(style.dash) \(amount(figure.highest))"
    let isPartial = figure.count < scenario.repetitions.count
    let note = isPartial ? "\(meaning); in \(figure.count) of \(scenario.repetitions.count)" : meaning
    return [
      .init(name), .init(amount(figure.median) + MetricUnit.shortSuffix(of: unit), .strong),
      .init(figure.count > 1 ? Format.glued(range) : ""),
      .init(note, .faint),
    ]
  }

  private func missing(_ metric: MetricName) -> String {
    metric == .steadyRSS ? "no steady state was seen" : "could not be read"
  }

  private func phaseRows(_ style: TerminalStyle) -> [[Table.Cell]] {
    var names: [String] = []
    for phase in scenario.repetitions.flatMap(\.phases) where !names.contains(phase.name) { names.append(phase.name) }
    return names.map { name in
      let safe = TerminalText.safe(name)
      return row(.phase(name, .peakRSS), "peak in \(safe)", scenario.exactness(ofPhase: name), style: style)
    }
  }

  private func valueRows(_ style: TerminalStyle) -> [[Table.Cell]] {
    scenario.metricNames.filter(\.isValue).map { metric in
      row(metric, TerminalText.safe(metric.reportedName), "the highest that it reported", style: style)
    }
  }

  private func processRow(_ style: TerminalStyle) -> [Table.Cell] {
    guard let figure = RepeatedFigure(scenario.repetitions.map { Double($0.processes) }) else {
      return ["processes", .init(style.dash, .faint), "", ""]
    }
    let range = figure.lowest == figure.highest ? "" : "\(Int(figure.lowest)) \(style.dash) \(Int(figure.highest))"
    let median = Decimals.text(figure.median, places: figure.median == figure.median.rounded() ? 0 : 1)
    return ["processes", .init(median, .strong), .init(Format.glued(range)), .init("in the tree", .faint)]
  }
}
