import GateCore

/// The values of a recorded command, each with its meaning.
struct ValueTable {
  let scenario: ScenarioResult

  /// The metrics of the whole run that have a row; those of the tree only if it has several processes.
  private var shown: [WholeRunMetric] {
    let isTree = scenario.repetitions.contains { $0.processes > 1 }
    return WholeRunMetric.allCases.filter { metric in
      (isTree || metric.row.scope != .tree) && (metric.row.isAlwaysListed || scenario.values(of: metric.name) != nil)
    }
  }

  private var treeMethod: String {
    let method = scenario.repetitions.last?.treeMethod ?? .upperBound
    return isRepeated ? method.shortText : method.displayText
  }

  private var isRepeated: Bool { scenario.repetitions.count > 1 }

  func table(_ style: TerminalStyle) -> Table {
    let whole = shown.map { ($0, MetricWords(of: $0, treeMethod: treeMethod)) }
    return Table(
      columns: [
        .init(side: .left), .init(title: isRepeated ? "median" : ""), .init(title: isRepeated ? "range" : ""),
        .init(side: .left, rank: 1),
      ],
      rows: whole.map { row($0.name, $1.label, $1.meaning, style: style) } + phaseRows(style) + valueRows(style)
        + [processRow(style)])
  }

  func write(to page: inout TerminalPage) {
    table(page.style).write(to: &page, indent: 2, limits: [12])
    page.gap()
    for (label, text) in remarks { page.paragraph(text, indent: 2, label: label) }
  }

  /// Remarks that are too long for a column, each with its label.
  var remarks: [(label: String, text: String)] {
    let spike = scenario.highestSpike.flatMap { spike in
      spike.height > .zero ? "\(Format.amount(spike.height)) \(spike.circumstances)" : nil
    }
    let isUnread = scenario.values(of: .peakRSS) == nil && scenario.failure == nil
    let remarks: [(String, String?)] = [
      ("no peak: ", isUnread ? Unavailability.tooFewReadings.text(for: .peakRSS) : nil),
      ("no steady state: ", scenario.unsteadinessText), ("growth: ", scenario.growthText),
      (isRepeated ? "highest spike: " : "spike: ", spike),
    ]
    return remarks.compactMap { label, text in text.map { (label, $0) } }
  }

  private func row(_ metric: MetricName, _ name: String, _ meaning: String, style: TerminalStyle) -> [Table.Cell] {
    let unit = scenario.unit(of: metric)
    guard let values = scenario.values(of: metric) else {
      return [.init(name), .init(style.dash, .faint), "", .init(missing(metric), .faint)]
    }
    let isPartial = values.count < scenario.repetitions.count
    let note = isPartial ? "\(meaning); in \(values.count) of \(scenario.repetitions.count)" : meaning
    return [
      .init(name), .init(Format.plainAmount(values.median, unit: unit) + MetricUnit.shortSuffix(of: unit), .strong),
      .init(range(of: values, style) { Format.plainAmount($0, unit: unit) }), .init(note, .faint),
    ]
  }

  private func range(of values: ValueSummary, _ style: TerminalStyle, _ text: (Double) -> String) -> String {
    guard let range = values.range, values.count > 1 else { return "" }
    return Format.glued("\(text(range.lowerBound)) \(style.dash) \(text(range.upperBound))")
  }

  private func missing(_ metric: MetricName) -> String {
    metric.row?.requirement.isOfSteadyState == true ? "no steady state" : "unavailable"
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
    Set(scenario.repetitions.flatMap(\.metrics.keys)).filter(\.isValue).sorted().map { metric in
      row(metric, TerminalText.safe(metric.reportedName), "highest value reported", style: style)
    }
  }

  private func processRow(_ style: TerminalStyle) -> [Table.Cell] {
    guard let counts = ValueSummary(scenario.repetitions.map { Double($0.processes) }), let ends = counts.range else {
      return ["processes", .init(style.dash, .faint), "", ""]
    }
    let isFixed = ends.lowerBound == ends.upperBound
    return [
      "processes", .init(Decimals.short(counts.median), .strong),
      .init(isFixed ? "" : range(of: counts, style) { "\(Int($0))" }), .init("in the tree", .faint),
    ]
  }
}
